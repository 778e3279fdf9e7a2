"""IAM login tokens for RDS and ElastiCache: a presigned ``connect`` request without its scheme.

Signed in this process, without a call; valid for 15 minutes and good for logins only, so one is made per connection.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

TOKEN_SECONDS = 900


@lru_cache(maxsize=1)  # it finds the credentials once and renews them by itself
def aws_session() -> Any:  # noqa: ANN401 botocore is not typed
    """Return the session whose credentials and region the environment names."""
    from botocore.session import get_session

    return get_session()


def login_token(
    service: str, address: str, query: Mapping[str, str], *, session: Callable[[], Any] = aws_session
) -> str:
    """Return the token that logs in at ``address``.

    Raises botocore's BotoCoreError if there are no credentials or no region.
    """
    from botocore.exceptions import NoRegionError
    from botocore.model import ServiceId
    from botocore.signers import RequestSigner

    known = session()
    region = known.get_config_variable("region")
    if not region:
        raise NoRegionError
    events = known.get_component("event_emitter")
    signer = RequestSigner(ServiceId(service), region, service, "v4", known.get_credentials(), events)
    scheme = "https://"
    request = {
        "method": "GET",
        "url": f"{scheme}{address}/?{urlencode({'Action': 'connect', **query})}",
        "body": {},
        "headers": {},
        "context": {},
    }
    url = signer.generate_presigned_url(request, "connect", expires_in=TOKEN_SECONDS, region_name=region)
    return str(url).removeprefix(scheme)

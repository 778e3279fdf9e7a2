"""Every setting of the product: a name, a bound, a default and a sentence. Only this module reads the environment.

A setting's variable is ``STRATA_<SECTION>_<FIELD>``, e.g. ``STRATA_WINDOW_MAX_TOKENS``. Nothing is read at import;
``Settings.from_env`` reads once and the result is frozen. Tests build ``Settings`` and never patch it.
"""

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from strata.errors import ConfigurationError

PREFIX = "STRATA_"

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(gt=0.0, le=600.0)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]


class Section(BaseModel):
    """A group of settings; frozen, and unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Window(Section):
    """What a reader gets of a session."""

    max_tokens: Tokens = Field(8_000, description="Tokens of history and summary together.")
    summary_tokens: Tokens = Field(2_000, description="Share of max_tokens kept for the summary.")
    context_rounds: int = Field(10, ge=1, le=1_000, description="Default rounds of a profile.")
    messages_per_round: int = Field(3, ge=1, le=20, description="Messages read for each round.")


class Session(Section):
    """Appending and ending."""

    max_messages_per_append: int = Field(100, ge=1, le=1_000, description="Messages in one append request.")
    summary_min_messages: int = Field(20, ge=1, le=10_000, description="Uncovered messages that make a summary due.")
    summary_cache_seconds: int = Field(3_600, ge=1, le=86_400, description="Life of a cached summary.")
    working_ttl_seconds: int = Field(3_600, ge=1, le=86_400, description="Life of the working memory scratch.")
    working_max_bytes: int = Field(
        65_536, ge=1, le=1_048_576, description="Size limit of the scratch, as JSON in UTF-8."
    )
    max_participants: int = Field(100, ge=0, le=1_000, description="Declared participants of one session.")


class Cache(Section):
    """ElastiCache (Valkey/Redis); ``memory://`` is the in-process one."""

    url: str = Field("memory://", description="memory://, redis://…, rediss://…; add ?cluster=true for cluster mode.")
    list_length: int = Field(200, ge=1, le=10_000, description="Messages kept in a session's cached list.")
    ttl_seconds: int = Field(86_400, ge=1, le=2_592_000, description="Life of a session's keys after the last touch.")
    verify_seconds: float = Field(
        2.0, ge=0.0, le=600.0, description="A list not written or checked for this long is compared with the database."
    )
    connect_timeout_seconds: Seconds = Field(0.3, description="Limit for one connection attempt.")
    timeout_seconds: Seconds = Field(0.5, description="Limit for one answer.")
    breaker_failures: int = Field(3, ge=1, le=100, description="Failures in a row that open the breaker.")
    breaker_seconds: Seconds = Field(5.0, description="How long an open breaker keeps callers away.")
    iam_auth: bool = Field(default=False, description="Sign an ElastiCache IAM token for each connection.")
    iam_user: str = Field("", description="User name for IAM auth.")
    iam_cache_name: str = Field("", description="Cache name for IAM auth, lower case.")
    iam_serverless: bool = Field(default=True, description="The cache is ElastiCache Serverless; its tokens say so.")
    ca_file: str = Field("", description="PEM file to verify the server with; empty = the public roots.")


class Database(Section):
    """RDS MySQL (or MariaDB), or a SQLite file."""

    url: str = Field("sqlite:///strata.db", description="sqlite:///file or mysql+pymysql://user:password@host/name.")
    secret_arn: str = Field(
        "", description="Secrets Manager secret with username and password; replaces those in the URL."
    )
    iam_auth: bool = Field(default=False, description="Make an RDS IAM token for each connection.")
    ca_file: str = Field("", description="PEM file to verify the server with; empty = the public roots (RDS Proxy).")
    tls: bool = Field(default=False, description="Require TLS with verification of chain and name.")
    connect_timeout_seconds: Seconds = Field(2.0, description="Limit for one connection attempt.")
    read_timeout_seconds: Seconds = Field(5.0, description="Limit for one answer.")
    write_timeout_seconds: Seconds = Field(5.0, description="Limit for sending one statement.")
    pool_size: int = Field(2, ge=1, le=64, description="Connections one process keeps; also its upper bound.")
    pool_wait_seconds: Seconds = Field(2.0, description="Wait for a free connection.")
    retries: int = Field(4, ge=0, le=10, description="Repeats after a deadlock, a lock timeout or a lost connection.")
    retry_seconds: Seconds = Field(8.0, description="No repeat starts later than this after the first attempt.")
    lock_wait_seconds: Seconds = Field(5.0, description="SQLite's busy timeout.")


class Queue(Section):
    """The FIFO queue between session end and the consolidator."""

    url: str = Field("", description="SQS FIFO queue URL; empty only where the local stack provides the queue.")
    max_receives: int = Field(5, ge=1, le=1_000, description="Attempts before a run is parked.")
    retry_first_seconds: int = Field(
        20, ge=0, le=900, description="Wait after a first failure; four times as long each."
    )
    retry_longest_seconds: int = Field(
        800,
        ge=1,
        le=43_200,
        description="Longest wait for a retry; less than the time after which a run counts as stuck.",
    )
    connect_timeout_seconds: Seconds = Field(1.0, description="Limit for one connection attempt.")
    read_timeout_seconds: Seconds = Field(3.0, description="Limit for one answer.")


class Context(Section):
    """Loading context."""

    deadline_ms: int = Field(800, ge=1, le=25_000, description="Limit for the long-term side.")
    constraints_deadline_ms: int = Field(
        2_000, ge=1, le=25_000, description="Limit for standing constraints: an answer without them may be unsafe."
    )
    query_context_chars: int = Field(200, ge=0, le=10_000, description="Characters of context added to the query.")
    min_score: Fraction = Field(0.3, description="Results below are dropped.")
    max_memory_chars: int = Field(1_000, ge=1, le=100_000, description="Cut for one delivered memory.")
    memory_tokens: Tokens = Field(4_000, description="Injection budget.")
    total_tokens: Tokens = Field(12_000, description="Limit for summary, history and memories together.")
    user_share: Fraction = Field(0.6, description="Share of the injection budget for user and shared memories.")
    top_k: int = Field(10, ge=1, le=100, description="Memories asked of a provider.")
    threads: int = Field(8, ge=2, le=64, description="Worker threads for the parallel sides.")


class Consolidation(Section):
    """From session to long-term memory."""

    lock_seconds: int = Field(600, ge=1, le=3_600, description="Life of the session lock in the cache.")
    lease_seconds: int = Field(
        90, ge=1, le=3_600, description="Life of the lease on a run; longer than the function's timeout."
    )
    digest_days: int = Field(7, ge=1, le=365, description="Within it a re-sent transcript is not new.")
    min_importance: int = Field(3, ge=1, le=10, description="Candidates below are dropped.")
    max_memory_chars: int = Field(200, ge=20, le=2_000, description="Length of a memory.")
    jaccard: Fraction = Field(0.7, description="Character Jaccard that proposes a duplicate.")
    levenshtein: Fraction = Field(0.8, description="Levenshtein ratio that proposes a duplicate, on short texts.")
    short_text_chars: int = Field(30, ge=1, le=1_000, description="Longest text for the Levenshtein proposal.")
    context_messages: int = Field(20, ge=0, le=200, description="Messages around the new ones shown to the judge.")
    judge_chars: int = Field(
        48_000,
        ge=1_000,
        le=1_000_000,
        description="Characters of conversation shown to the model; rules read the rest.",
    )
    episodes: bool = Field(default=True, description="Index the turns of finished sessions (native provider).")
    stuck_seconds: int = Field(
        900, ge=60, le=86_400, description="A run in progress longer than this is picked up by reconcile."
    )


class Inference(Section):
    """Chat and embedding endpoints; empty URLs mean the rule judge and the bundled embedder."""

    chat_url: str = Field("", description="OpenAI-compatible base URL, or bedrock:// for Bedrock; empty = rules only.")
    chat_model: str = Field("", description="Model name sent to the chat endpoint.")
    chat_key_secret: str = Field("", description="Secrets Manager secret that holds the chat key.")
    chat_key: str = Field("", repr=False, description="The chat key itself; for one machine only.")
    chat_timeout_seconds: Seconds = Field(30.0, description="Limit for one completion.")
    chat_max_tokens: int = Field(2_000, ge=1, le=100_000, description="Completion limit.")
    embed_url: str = Field("", description="OpenAI-compatible base URL, or bedrock://; empty = the bundled model.")
    embed_model: str = Field("", description="Model name sent to the embedding endpoint.")
    embed_key_secret: str = Field("", description="Secrets Manager secret that holds the embedding key.")
    embed_key: str = Field("", repr=False, description="The embedding key itself; for one machine only.")
    embed_timeout_seconds: Seconds = Field(5.0, description="Limit for one embedding call.")
    embed_batch: int = Field(32, ge=1, le=2_048, description="Texts in one embedding call.")
    local_embedding: bool = Field(
        default=True, description="Use the bundled model if it is installed; else keyword search."
    )


class Providers(Section):
    """The external long-term memories."""

    memos_url: str = Field("", description="MemOS base URL: self-hosted, or the Cloud's OpenMem v1 address.")
    memos_key: str = Field("", repr=False, description="Cloud key; empty = self-hosted.")
    memos_key_secret: str = Field("", description="Secrets Manager secret with the Cloud key.")
    memos_async: bool = Field(default=True, description="Add in the background (async, fine); false = sync.")
    mem0_url: str = Field("", description="Mem0 base URL: OSS server or Platform.")
    mem0_key: str = Field("", repr=False, description="Mem0 key.")
    mem0_key_secret: str = Field("", description="Secrets Manager secret with the Mem0 key.")
    mem0_platform: bool = Field(default=False, description="True for Platform v3, false for the OSS server.")
    connect_timeout_seconds: Seconds = Field(0.5, description="Limit for one connection attempt.")
    search_timeout_seconds: Seconds = Field(0.8, description="Limit for a search.")
    write_timeout_seconds: Seconds = Field(10.0, description="Limit for an add or a delete.")
    retries: int = Field(2, ge=0, le=10, description="Repeats of calls that are safe to repeat.")
    breaker_failures: int = Field(5, ge=1, le=100, description="Failures in a row that open the breaker.")
    breaker_seconds: Seconds = Field(15.0, description="How long an open breaker keeps callers away.")
    max_response_bytes: int = Field(
        4_194_304, ge=1_024, le=67_108_864, description="Larger answers are refused unread."
    )
    ca_file: str = Field("", description="PEM file to verify the services with; empty = the public roots.")


class Library(Section):
    """The native library."""

    top_k: int = Field(5, ge=1, le=100, description="Default number of search results.")
    similarity: Fraction = Field(
        0.85, description="Calibrated similarity that makes a stored memory a candidate on insert."
    )
    max_content_chars: int = Field(4_000, ge=1, le=100_000, description="Length of a memory written through the API.")
    max_tags: int = Field(64, ge=0, le=1_000, description="Metadata keys of one memory.")
    index_collections: int = Field(64, ge=1, le=10_000, description="Collections one process keeps indexed.")
    restore_days: int = Field(30, ge=0, le=3_650, description="How long a deleted memory can be restored.")


class Auth(Section):
    """Keys."""

    cache_seconds: int = Field(15, ge=0, le=30, description="How long a checked key is trusted without a look.")
    bootstrap_admin_key: str = Field(
        "", repr=False, description="First admin key; used only while no other admin key exists."
    )
    bootstrap_admin_key_secret: str = Field("", description="Secrets Manager secret that holds the first admin key.")
    default_tenant: str = Field("default", min_length=1, max_length=64, description="Tenant of the bootstrap key.")


class Http(Section):
    """The edge."""

    max_body_bytes: int = Field(1_048_576, ge=1_024, le=6_291_456, description="Largest request body.")
    page_size: int = Field(50, ge=1, le=500, description="Default page of a list.")
    export_bytes: int = Field(
        4_194_304, ge=1_024, le=5_767_168, description="From here on the export of a user takes more than one answer."
    )


class Maintenance(Section):
    """Scheduled jobs."""

    batch: int = Field(200, ge=1, le=10_000, description="Rows of one purge statement.")
    seconds: Seconds = Field(45.0, description="Time one job gives itself.")
    audit_bucket: str = Field("", description="S3 bucket for weekly reports; empty = database only.")
    anomaly_factor: float = Field(3.0, ge=1.0, le=100.0, description="Writes against the median that flag an agent.")
    ledger_days: int = Field(400, ge=1, le=36_500, description="How long the read ledger keeps an entry.")
    quarantine_days: int = Field(90, ge=1, le=36_500, description="How long a text stays in quarantine.")


class Cli(Section):
    """How the command line reaches a service."""

    endpoint: str = Field("http://127.0.0.1:8610", description="Base URL of the service the commands talk to.")
    key: str = Field("", repr=False, description="API key; empty = the admin key that the local stack left.")
    agent: str = Field("admin", min_length=1, max_length=128, description="Agent id the commands act as.")
    data_dir: str = Field(".strata", min_length=1, description="Folder of the local stack: database, queue, admin key.")


class Settings(Section):
    """All sections together."""

    window: Window = Window()
    session: Session = Session()
    cache: Cache = Cache()
    database: Database = Database()
    queue: Queue = Queue()
    context: Context = Context()
    consolidation: Consolidation = Consolidation()
    inference: Inference = Inference()
    providers: Providers = Providers()
    library: Library = Library()
    auth: Auth = Auth()
    http: Http = Http()
    maintenance: Maintenance = Maintenance()
    cli: Cli = Cli()
    log_level: str = Field("INFO", description="Level of the structured logs.")

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read ``STRATA_*`` once.

        Raises:
            ConfigurationError: a variable is unknown or its value is out of bounds; the message names the variable.
        """
        source = os.environ if environ is None else environ
        given = {name: value for name, value in source.items() if name.startswith(PREFIX)}
        try:
            return cls.model_validate(_nested(given))
        except ValidationError as error:
            raise ConfigurationError(_explain(error), hint="See the settings table in the README.") from None


def let_threads_sleep() -> None:
    """Have the OpenMP threads of a native library fall asleep soon when they wait; before that library is loaded.

    By default they spin for milliseconds: where processors are short, as in a small function, each waits for one that
    only waits. Asleep at once they wake too late, which doubles the time on an idle machine.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "2000")


def variables() -> dict[str, tuple[str, str]]:
    """Return every variable with its default (as JSON) and its sentence, in order."""
    table: dict[str, tuple[str, str]] = {}
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, Section):
            for inner, detail in type(field.default).model_fields.items():
                table[f"{PREFIX}{name}_{inner}".upper()] = (_shown(detail.default), detail.description or "")
        else:
            table[f"{PREFIX}{name}".upper()] = (_shown(field.default), field.description or "")
    return table


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _nested(given: Mapping[str, str]) -> dict[str, Any]:
    known = {variable: variable.removeprefix(PREFIX).lower() for variable in variables()}
    result: dict[str, Any] = {}
    for variable, value in given.items():
        if variable not in known:
            message = f"{variable} is not a setting"
            raise ConfigurationError(message, hint="See the settings table in the README.")
        section, _, field = known[variable].partition("_")
        if section in Settings.model_fields:
            result.setdefault(section, {})[field] = value
        else:
            result[known[variable]] = value
    return result


def _explain(error: ValidationError) -> str:
    parts = (f"{PREFIX}{'_'.join(map(str, item['loc']))}".upper() + f": {item['msg']}" for item in error.errors())
    return "; ".join(parts)

"""Agents: profiles, keys, and proving who calls.

A key is shown once and stored as a hash. A checked key is trusted for at most ``STRATA_AUTH_CACHE_SECONDS`` (never
more than 30), so that a revocation holds everywhere soon. The bootstrap key of the settings works until its tenant
has an administrator's key of its own.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from strata import config
from strata.clock import Clock
from strata.errors import AuthenticationError, ForbiddenError, NotFoundError, ValidationError
from strata.model.agents import AgentProfile, AgentRole, ApiKey, Caller
from strata.policy import keys
from strata.policy.names import checked_id, checked_text
from strata.ports import AgentStore

BOOTSTRAP_AGENT = "admin"
SYSTEM_PREFIX = "system:"
"""Actors of the product's own jobs; no agent may be called so."""
MAX_CACHED_KEYS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key as it is shown, once."""

    key: ApiKey
    secret: str
    """The whole key, ready for the Authorization header."""


class Agents:
    """Profiles and keys, set by administrators."""

    def __init__(self, agents: AgentStore, clock: Clock) -> None:
        self._agents = agents
        self._clock = clock

    def put(self, caller: Caller, profile: AgentProfile) -> AgentProfile:
        """Create or replace a profile of the caller's tenant. Raises ForbiddenError, ValidationError."""
        _require_admin(caller)
        agent_id = checked_id(profile.agent_id, "agent_id")
        if agent_id.startswith(SYSTEM_PREFIX):
            raise ValidationError(f"An agent's id must not begin with {SYSTEM_PREFIX}", fields={"field": "agent_id"})
        if profile.target_id:
            checked_id(profile.target_id, "target_id")
        checked_text(profile.display_name, "display_name", limit=256)
        own = replace(profile, tenant=caller.tenant)
        return self._agents.put(own, now=self._clock.now(), actor=caller.agent_id)

    def get(self, caller: Caller, agent_id: str) -> AgentProfile:
        """Return a profile to an administrator or to the agent itself. Raises NotFoundError."""
        profile = self._agents.get(caller.tenant, agent_id)
        if profile is None or not (caller.is_admin or caller.agent_id == agent_id):
            raise NotFoundError
        return profile

    def page(self, caller: Caller, *, limit: int, after: str = "") -> list[AgentProfile]:
        """Return profiles in the order of their ids. Raises ForbiddenError."""
        _require_admin(caller)
        return self._agents.page(caller.tenant, limit=limit, after=after)

    def create_key(self, caller: Caller, agent_id: str, *, role: AgentRole | None = None) -> NewKey:
        """Make a key; its role is the agent's own, or less.

        Raises:
            ForbiddenError: administrators only; or a role above the agent's own.
            NotFoundError: no such agent.
        """
        return self._made(caller, agent_id, role)

    def _made(self, caller: Caller, agent_id: str, role: AgentRole | None, *, replaces: str = "") -> NewKey:
        _require_admin(caller)
        profile = self.get(caller, agent_id)
        if role is AgentRole.ADMIN and profile.role is not AgentRole.ADMIN:
            raise ForbiddenError("The agent's role does not allow an administrator's key.")
        secret = secrets.token_urlsafe(32)
        key = ApiKey(
            key_id=secrets.token_hex(8),
            tenant=caller.tenant,
            agent_id=agent_id,
            role=role or profile.role,
            secret_hash=keys.hashed(secret),
            created_at=self._clock.now(),
        )
        self._agents.add_key(key, actor=caller.agent_id, replaces=replaces)
        return NewKey(key=key, secret=keys.rendered(key.key_id, secret))

    def rotate_key(self, caller: Caller, agent_id: str, key_id: str) -> NewKey:
        """Make a new key of the same role and revoke the old one, in one. Raises as ``create_key``."""
        _require_admin(caller)
        old = next((key for key in self.keys(caller, agent_id) if key.key_id == key_id), None)
        if old is None or old.revoked_at is not None:
            raise NotFoundError
        return self._made(caller, agent_id, old.role, replaces=key_id)

    def revoke_key(self, caller: Caller, agent_id: str, key_id: str) -> None:
        """Revoke a key. Raises ForbiddenError, NotFoundError."""
        _require_admin(caller)
        now = self._clock.now()
        if not self._agents.revoke_key(caller.tenant, agent_id, key_id, now=now, actor=caller.agent_id):
            raise NotFoundError

    def keys(self, caller: Caller, agent_id: str) -> list[ApiKey]:
        """Return an agent's keys, oldest first. Raises ForbiddenError."""
        _require_admin(caller)
        return self._agents.keys(caller.tenant, agent_id)


class Authenticator:
    """Turns a presented key into the caller it proves."""

    def __init__(
        self, agents: AgentStore, clock: Clock, settings: config.Auth, *, bootstrap_key: Callable[[], str] = str
    ) -> None:
        self._agents = agents
        self._clock = clock
        self._settings = settings
        self._bootstrap_key = bootstrap_key
        self._lock = Lock()
        self._trusted: dict[str, tuple[float, Caller]] = {}
        """Callers by the hash of the whole key; the only state, and it is forgotten within seconds."""

    def __call__(self, presented: str, *, request_id: str = "") -> Caller:
        """Return the caller. Raises AuthenticationError."""
        digest = keys.hashed(presented)
        caller = self._remembered(digest)
        if caller is None:
            caller = self._checked(presented)
            self._remember(digest, caller)
        return replace(caller, request_id=request_id)

    def _checked(self, presented: str) -> Caller:
        halves = keys.parsed(presented)
        key = self._agents.get_key(halves.key_id) if halves else None
        if key is None and self._is_bootstrap(presented):
            return self._bootstrapped()
        if halves is None or key is None or key.revoked_at is not None or not keys.fits(halves.secret, key.secret_hash):
            raise AuthenticationError
        return Caller(tenant=key.tenant, agent_id=key.agent_id, role=key.role, key_id=key.key_id)

    def _is_bootstrap(self, presented: str) -> bool:
        """Compare with the first admin key, which may have to be fetched; only unknown keys come this far."""
        expected = self._settings.bootstrap_admin_key or self._bootstrap_key()
        return bool(expected) and keys.same(presented, expected)

    def _bootstrapped(self) -> Caller:
        tenant = self._settings.default_tenant
        if self._agents.has_admin_key(tenant):
            raise AuthenticationError
        return Caller(tenant=tenant, agent_id=BOOTSTRAP_AGENT, role=AgentRole.ADMIN, key_id="bootstrap")

    def _remembered(self, digest: str) -> Caller | None:
        with self._lock:
            until, caller = self._trusted.get(digest, (0.0, None))
        return caller if self._clock.monotonic() < until else None

    def _remember(self, digest: str, caller: Caller) -> None:
        with self._lock:
            if len(self._trusted) >= MAX_CACHED_KEYS:
                self._trusted.clear()
            self._trusted[digest] = (self._clock.monotonic() + self._settings.cache_seconds, caller)


def _require_admin(caller: Caller) -> None:
    if not caller.is_admin:
        raise ForbiddenError

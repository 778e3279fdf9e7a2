"""Every error the product raises, as one tree.

* StrataError                     500 internal
  + InputError                    400 invalid_request        the caller must change the request
    - ValidationError             422 validation_failed
    - PayloadTooLargeError        413 payload_too_large
    - UnsupportedMediaTypeError   415 unsupported_media_type
    - UnknownMemoryTypeError      422 unknown_memory_type
  + AuthenticationError           401 unauthenticated
  + ForbiddenError                403 forbidden              only where the caller may know that the thing exists
  + NotFoundError                 404 not_found              absent and refused look the same to a stranger
    - RouteNotFoundError          404 route_not_found
  + MethodNotAllowedError         405 method_not_allowed
  + ConflictError                 409 conflict
    - MessageConflictError        409 message_id_conflict
    - VersionConflictError        409 version_conflict
    - SessionConflictError        409 session_conflict
    - RunStateError               409 run_state
  + QuarantinedError              422 quarantined            text that tries to instruct a model
  + TransientError                503 unavailable            retryable: the same call may succeed later
    - StorageUnavailableError     503 storage_unavailable
    - CacheUnavailableError       503 cache_unavailable
    - QueueUnavailableError       503 queue_unavailable
    - ProviderUnavailableError    503 provider_unavailable
      . ProviderTimeoutError      503 provider_timeout
      . RateLimitedError          429 provider_rate_limited
      . CircuitOpenError          503 circuit_open
    - InferenceUnavailableError   503 inference_unavailable
    - DeadlineExceededError       503 deadline_exceeded
    - LeaseLostError              503 lease_lost
  + TerminalError                 500 terminal               a retry cannot help
    - ProviderRejectedError       502 provider_rejected
    - ProviderProtocolError       502 provider_protocol      the service answered something that is not its contract
    - InferenceRejectedError      502 inference_rejected
    - JudgeOutputError            502 judge_output
    - StatementTooLargeError      413 statement_too_large
    - ConfigurationError          500 configuration

The class carries ``status``, ``code`` (stable, part of the API), ``retryable`` and ``hint``; the edge and the queue
door read those and know no class by name. The first line of a class's docstring is its default message.
"""

from collections.abc import Mapping


class StrataError(Exception):
    """Something went wrong inside the service."""

    status = 500
    code = "internal"
    retryable = False
    hint = ""

    def __init__(self, message: str = "", *, hint: str = "", fields: Mapping[str, object] | None = None) -> None:
        """Keep the message shown to callers, a next step, and structured fields that are safe to show and to log."""
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.hint = hint or type(self).hint
        self.fields = dict(fields or {})
        super().__init__(self.message)


class InputError(StrataError):
    """The request cannot be understood."""

    status = 400
    code = "invalid_request"


class ValidationError(InputError):
    """The request has values that are not allowed."""

    status = 422
    code = "validation_failed"


class PayloadTooLargeError(InputError):
    """The request body is larger than allowed."""

    status = 413
    code = "payload_too_large"


class UnsupportedMediaTypeError(InputError):
    """The request body must be JSON in UTF-8."""

    status = 415
    code = "unsupported_media_type"


class UnknownMemoryTypeError(InputError):
    """There is no such memory type."""

    status = 422
    code = "unknown_memory_type"
    hint = "Memory types are created by an operator: strata types add."


class AuthenticationError(StrataError):
    """The API key is missing, unknown or revoked."""

    status = 401
    code = "unauthenticated"
    hint = "Send Authorization: Bearer <key>."


class ForbiddenError(StrataError):
    """The key's role does not allow this."""

    status = 403
    code = "forbidden"


class NotFoundError(StrataError):
    """There is nothing here that this key may see."""

    status = 404
    code = "not_found"


class RouteNotFoundError(NotFoundError):
    """There is no such route."""

    code = "route_not_found"


class MethodNotAllowedError(StrataError):
    """The route exists, but not with this method."""

    status = 405
    code = "method_not_allowed"


class ConflictError(StrataError):
    """The request conflicts with the present state."""

    status = 409
    code = "conflict"


class MessageConflictError(ConflictError):
    """This message_id was already used for other content."""

    code = "message_id_conflict"


class VersionConflictError(ConflictError):
    """The memory has changed since the version that was read."""

    code = "version_conflict"
    hint = "Read the memory again and repeat the update with its present version."


class SessionConflictError(ConflictError):
    """The session is not in a state that allows this."""

    code = "session_conflict"


class RunStateError(ConflictError):
    """The run is not in a state that allows this."""

    code = "run_state"


class QuarantinedError(StrataError):
    """The text instructs a model and was set aside for review."""

    status = 422
    code = "quarantined"


class TransientError(StrataError):
    """A dependency is not available at the moment."""

    status = 503
    code = "unavailable"
    retryable = True
    hint = "Repeat the request; it is safe with the same message_id."


class StorageUnavailableError(TransientError):
    """The database is not available."""

    code = "storage_unavailable"


class CacheUnavailableError(TransientError):
    """The cache is not available."""

    code = "cache_unavailable"


class QueueUnavailableError(TransientError):
    """The queue is not available."""

    code = "queue_unavailable"


class ProviderUnavailableError(TransientError):
    """The long-term memory provider is not available."""

    code = "provider_unavailable"


class ProviderTimeoutError(ProviderUnavailableError):
    """The long-term memory provider did not answer in time."""

    code = "provider_timeout"


class RateLimitedError(ProviderUnavailableError):
    """The long-term memory provider asks for fewer calls."""

    status = 429
    code = "provider_rate_limited"


class CircuitOpenError(ProviderUnavailableError):
    """Calls are held back after repeated failures."""

    code = "circuit_open"


class InferenceUnavailableError(TransientError):
    """The model endpoint is not available."""

    code = "inference_unavailable"


class DeadlineExceededError(TransientError):
    """The work did not finish in the time it had."""

    code = "deadline_exceeded"


class LeaseLostError(TransientError):
    """Another worker has taken over this run."""

    code = "lease_lost"


class TerminalError(StrataError):
    """The work cannot succeed, however often it is tried."""

    code = "terminal"


class ProviderRejectedError(TerminalError):
    """The long-term memory provider refused the request."""

    status = 502
    code = "provider_rejected"


class ProviderProtocolError(TerminalError):
    """The long-term memory provider answered outside its contract."""

    status = 502
    code = "provider_protocol"


class InferenceRejectedError(TerminalError):
    """The model endpoint refused the request."""

    status = 502
    code = "inference_rejected"
    hint = "Check the model's name, its key and its limits."


class JudgeOutputError(TerminalError):
    """The judge's answer cannot be used."""

    status = 502
    code = "judge_output"


class StatementTooLargeError(TerminalError):
    """The message is larger than the database accepts in one statement."""

    status = 413
    code = "statement_too_large"


class ConfigurationError(TerminalError):
    """A setting is missing or contradicts another."""

    code = "configuration"

"""Every error this package raises on purpose.

SidechatError
├── InvalidRequest   the caller can fix it
│   ├── SessionNotFound      no such session, or not the caller's
│   ├── ParentNotFound       the parent is missing, unreadable or ambiguous
│   ├── NothingToFork        the parent has no completed turn
│   ├── NothingToMerge       the side session has no completed turn of its own
│   ├── NoteTooLong          the note is over the cap and was not shortened
│   ├── HasChildren          a session that others were forked from cannot be forgotten
│   └── UnknownFormat        a transcript this version cannot read
├── Conflict         somebody else wrote first, or is writing now
│   ├── Moved                the log is not where the decision expected it
│   ├── AnsweringNow         another caller is running a turn in that session
│   └── KeyReused            the same key came with other arguments
└── OutsideError     something beyond our walls failed
    ├── ProviderError        the model's side
    │   ├── BadCredentials       the key is missing, wrong or may not do this
    │   ├── QuotaSpent           the account has no credit left
    │   ├── RateLimited          too many requests for this key
    │   ├── Overloaded           the provider cannot answer at the moment
    │   ├── Unreachable          the provider did not answer at all
    │   ├── ContextOverflow      the conversation is larger than the model's window
    │   ├── UnknownModel         the provider has no such model
    │   ├── RejectedRequest      the provider did not take the request as it is
    │   └── AnswerCut            the answer broke off before its end
    ├── StoreError           the database's side
    ├── DamagedLog           a stored event does not match its checksum or digest
    └── NewerSchema          a newer version wrote this database; restart the client

Whose fault it is comes first, because that is what a caller acts on. Every error has a
stable `code` for machines, a sentence for people and, where there is one, the next step.
"""

from __future__ import annotations


class SidechatError(Exception):
    """Any error raised on purpose; `str(error)` is one sentence and the next step."""

    code = "error"

    def __init__(self, message: str, *, then: str = "") -> None:
        super().__init__(f"{message} {then}".strip())
        self.message = message
        self.then = then


class InvalidRequest(SidechatError):
    """The caller can fix it."""

    code = "invalid_request"


class SessionNotFound(InvalidRequest):
    """No session of the caller's has that id."""

    code = "session_not_found"

    def __init__(self, session: str) -> None:
        super().__init__(
            f"There is no session {session[:200]!r}.", then="`sessions` lists the ones there are."
        )
        self.session = session


class ParentNotFound(InvalidRequest):
    code = "parent_not_found"


class NothingToFork(InvalidRequest):
    code = "nothing_to_fork"


class NothingToMerge(InvalidRequest):
    code = "nothing_to_merge"


class NoteTooLong(InvalidRequest):
    code = "note_too_long"


class HasChildren(InvalidRequest):
    code = "has_children"


class UnknownFormat(InvalidRequest):
    code = "unknown_format"


class Conflict(SidechatError):
    """Somebody else wrote first, or is writing now; read again and retry."""

    code = "conflict"


class Moved(Conflict):
    """The log's next place is not the one the decision was made on."""

    code = "moved"

    def __init__(self, session: str, expected: int, found: int) -> None:
        super().__init__(
            f"Session {session!r} moved on: expected place {expected}, found {found}.",
            then="Read it again and retry.",
        )
        self.session, self.expected, self.found = session, expected, found


class AnsweringNow(Conflict):
    code = "answering_now"

    def __init__(self, session: str) -> None:
        super().__init__(
            f"Session {session!r} is answering now.", then="Wait for that answer, then ask again."
        )
        self.session = session


class KeyReused(Conflict):
    code = "key_reused"

    def __init__(self, key: str) -> None:
        super().__init__(
            f"The key {key!r} was used before with other arguments.", then="Use a new key."
        )


class OutsideError(SidechatError):
    """Something beyond our walls failed; `retryable` says whether trying again can help."""

    code = "outside_error"

    def __init__(self, message: str, *, then: str = "", retryable: bool = False) -> None:
        super().__init__(message, then=then)
        self.retryable = retryable


class ProviderError(OutsideError):
    code = "provider_error"


class BadCredentials(ProviderError):
    code = "bad_credentials"


class QuotaSpent(ProviderError):
    code = "quota_spent"


class RateLimited(ProviderError):
    code = "rate_limited"


class Overloaded(ProviderError):
    code = "overloaded"


class Unreachable(ProviderError):
    code = "unreachable"


class ContextOverflow(ProviderError):
    code = "context_overflow"


class UnknownModel(ProviderError):
    code = "unknown_model"


class RejectedRequest(ProviderError):
    code = "rejected_request"


class AnswerCut(ProviderError):
    code = "answer_cut"


class StoreError(OutsideError):
    code = "store_error"


class DamagedLog(OutsideError):
    """A stored event differs from what was written; names the session and the place."""

    code = "damaged_log"

    def __init__(self, session: str, seq: int, what: str) -> None:
        super().__init__(
            f"Session {session!r} is damaged at event {seq}: {what}.",
            then=f"Restore the database from a backup, or `forget {session}`.",
        )
        self.session, self.seq = session, seq


class NewerSchema(OutsideError):
    code = "newer_schema"

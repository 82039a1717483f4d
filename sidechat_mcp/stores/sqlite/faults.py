"""SQLite's and the operating system's errors in plain words, with whether trying again helps."""

from __future__ import annotations

import errno
from pathlib import Path

import apsw

from sidechat_mcp.errors import InvalidRequest, NewerSchema, StoreError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_WRITING = {errno.EROFS, errno.EACCES, errno.EPERM}


def closed() -> StoreError:
    return StoreError("The store is closed.", then="Open it again.")


def newer() -> NewerSchema:
    return NewerSchema(
        "A newer version of sidechat wrote this database, so this one only reads it.",
        then="Please restart the client to start the newer version.",
    )


def unwritable(folder: Path) -> StoreError:
    """What every write meets where only reading is allowed."""
    return StoreError(
        f"Nothing can be written in {folder}, so the log there is only read.",
        then="Make it writable, or set SIDECHAT_HOME to a folder that is.",
    )


def crowded(seconds: float) -> StoreError:
    return StoreError(
        f"Another process has been writing to the database for over {seconds:.0f} seconds;"
        " nothing was written.",
        then="Try again; if it stays so, look for a stopped sidechat process.",
        retryable=True,
    )


def forbids_writing(error: OSError) -> bool:
    """Whether it says that nothing can be written there, and no more."""
    return error.errno in _NO_WRITING


def outside(error: Exception) -> Exception:
    """`error` as one of ours; what is no fault of the outside stays as it is."""
    match error:
        case apsw.FullError():
            return _full()
        case OSError() if error.errno in _NO_SPACE:
            return _full()
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return StoreError(
                "Another program has locked the database; nothing was written.",
                then="Close that program, or try again in a moment.",
                retryable=True,
            )
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():
            return StoreError(
                f"The database file is damaged or is no database ({error}).",
                then="Restore it from a backup.",
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | PermissionError():
            return StoreError(
                f"The database may not be written ({error}).",
                then="Check the owner and the mode of its folder and files.",
            )
        case apsw.ConnectionClosedError():
            return closed()
        case apsw.IOError() | apsw.CantOpenError() | OSError():
            return StoreError(
                f"The disk refused to read or write the database ({error}).",
                then="Check the disk, then try again.",
                retryable=True,
            )
        case apsw.Error():
            return StoreError(f"The database failed ({error}).", then="Run `sidechat doctor`.")
        case OverflowError() | UnicodeError():
            return InvalidRequest(f"A value cannot be stored ({error}).", then="Check the input.")
        case _:
            return error


def _full() -> StoreError:
    return StoreError(
        "The disk is full; nothing was written.",
        then="Free some space, then try again.",
        retryable=True,
    )

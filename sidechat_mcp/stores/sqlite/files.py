"""The files beside a database and who may read them: 0600 and 0700 under any umask."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.errors import StoreError

PRIVATE = 0o600
PRIVATE_FOLDER = 0o700

_NETWORK = {
    *("nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "9p", "fuse", "afs", "ceph"),
    *("glusterfs", "lustre", "ncpfs", "vboxsf", "prl_fs", "drvfs", "lxfs", "wslfs"),
}
"""Where shared memory or locks do not hold between processes, as `/proc/mounts` spells them."""
HOME_LOG = "log.db"
"""What the log is called in the home, which is ours as a whole."""
HOME_THINGS = {"lock", "turns", "config.toml", "hosted", "local"}
"""What else lies in a home."""
_MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True, slots=True)
class Files:
    """Where things lie: everything in the folder of `database`, an absolute path without links.
    A database of another name than the home's own has names beside it that are surely ours."""

    database: Path

    @property
    def lock(self) -> Path:
        return self._beside("lock")

    @property
    def turns(self) -> Path:
        return self._beside("turns")

    def _beside(self, what: str) -> Path:
        name = self.database.name
        return self.database.with_name(what if name == HOME_LOG else f"{name}.{what}")

    def backup(self, version: int) -> Path:
        """The copy made before leaving schema `version`."""
        return self.database.with_name(f"{self.database.name}.v{version}.backup")

    def make(self) -> None:
        """Make the folders and an empty database where there is none, and tighten the modes of
        what is there. A folder in which other things lie stays as it is: it is not ours."""
        _folder(self.database.parent)
        _folder(self.turns)
        self.turns.chmod(PRIVATE_FOLDER)
        os.close(private(self.lock))
        if _create(self.database):
            _sync_folder(self.database.parent)
        for end in ("", "-wal", "-shm"):
            _tighten(self.database.with_name(self.database.name + end))
        if self.database.name == HOME_LOG:
            _close_home(self.database.parent)


def private(path: Path) -> int:
    """A descriptor of a file that only its owner can read, made if it is not there."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != PRIVATE:
        os.fchmod(descriptor, PRIVATE)
    return descriptor


def network(path: Path, mounts: str) -> str | None:
    """The kind of network (or user space) file system that `path` lies on, by the text of
    `/proc/mounts`; None for a local one."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        inside = path == Path(point) or Path(point) in path.parents
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    remote = kind in _NETWORK or kind.startswith("fuse.")
    return kind if remote else None


def refuse_network(database: Path) -> None:
    """Raises StoreError where SQLite's write-ahead log would lose what it acknowledged."""
    try:
        mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return
    if kind := network(database, mounts):
        raise StoreError(
            f"The database {database} lies on a network file system ({kind}), where SQLite's"
            " write-ahead log is not safe.",
            then="Put SIDECHAT_HOME (or SIDECHAT_STORE, if it is set) on a local disk.",
        )


def _folder(path: Path) -> None:
    if not path.is_dir():
        _folder(path.parent)
        path.mkdir(exist_ok=True)
        path.chmod(PRIVATE_FOLDER)


def _create(path: Path) -> bool:
    """Make an empty file unless there is one. One that is there is not opened: closing it would
    give up the locks that SQLite holds on it in this process."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    except FileExistsError:
        return False
    os.fchmod(descriptor, PRIVATE)  # Whatever the umask took away.
    os.close(descriptor)
    return True


def _tighten(path: Path) -> None:
    """Take away what others may do; what its owner took from himself stays so."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~PRIVATE:
            path.chmod(mode & PRIVATE)
    except FileNotFoundError:
        pass


def _close_home(folder: Path) -> None:
    """Shut others out of a home that is ours as a whole."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & ~PRIVATE_FOLDER and _ours(folder):
        folder.chmod(mode & PRIVATE_FOLDER)


def _ours(folder: Path) -> bool:
    """Whether it belongs to us and holds nothing but what we put there."""
    names = os.listdir(folder)
    known = all(name in HOME_THINGS or name.startswith(HOME_LOG) for name in names)
    return known and folder.stat().st_uid == os.geteuid()


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

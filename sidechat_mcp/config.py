"""Settings: environment over file over defaults, read once into a frozen value."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sidechat_mcp.errors import InvalidRequest

MOST_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Config:
    """`home` holds the log, its locks and the file of settings; `store` is a path or
    `postgresql://…`; `agent` as in CONTRACT; `note_cap` in code points."""

    home: Path
    store: str
    agent: str = "auto"
    note_cap: int = 2000

    @property
    def log(self) -> Path:
        """The SQLite file."""
        return Path(self.store)


def load(environ: Mapping[str, str]) -> Config:
    """Raises InvalidRequest, naming the setting and what it may be."""
    home = Path(environ.get("SIDECHAT_HOME") or "~/.sidechat").expanduser().absolute()
    settings = {**_file(home / "config.toml"), **_environment(environ)}
    store = settings.get("store") or str(home / "log.db")
    if "://" not in store:
        store = str(Path(store).expanduser().absolute())
    return Config(home, store, settings.get("agent") or "auto", _cap(settings.get("note_cap")))


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    names = {
        "SIDECHAT_STORE": "store",
        "SIDECHAT_AGENT": "agent",
        "SIDECHAT_NOTE_CAP": "note_cap",
    }
    return {field: environ[name] for name, field in names.items() if environ.get(name)}


def _file(path: Path) -> dict[str, str]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"{path} cannot be read: {error}.", then="Correct or remove it."
        ) from error
    unknown = found.keys() - {"store", "agent", "note_cap"}
    if unknown:
        raise InvalidRequest(
            f"{path} has unknown settings: {', '.join(sorted(unknown))}.",
            then="Known are store, agent, note_cap.",
        )
    return {name: str(value) for name, value in found.items()}


def _cap(given: str | None) -> int:
    if given is None:
        return 2000
    if not (given.isascii() and given.isdigit()) or not 1 <= int(given) <= MOST_CAP:
        raise InvalidRequest(
            f"The note cap is {given!r}.",
            then=f"Set SIDECHAT_NOTE_CAP to a whole number from 1 to {MOST_CAP}.",
        )
    return int(given)

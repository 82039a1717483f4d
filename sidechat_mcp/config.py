"""Settings: environment over file over defaults, read once into a frozen value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.tools.mcp_servers import Server

MOST_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Config:
    """`home` holds the log, its locks and the file of settings; `store` is a path or
    `postgresql://…`; `agent` as in CONTRACT; `note_cap` in code points; `servers` are the MCP
    servers whose tools native sessions may have; `advisor_system`, when set, is the system
    prompt of every side session instead of its parent's; `window` is how many tokens the agent's
    model takes, where it is not known otherwise."""

    home: Path
    store: str
    agent: str = "auto"
    note_cap: int = 2000
    servers: Sequence[Server] = ()
    advisor_system: str | None = None
    window: int | None = None

    @property
    def log(self) -> Path:
        """The SQLite file."""
        return Path(self.store)


def load(environ: Mapping[str, str]) -> Config:
    """Raises InvalidRequest, naming the setting and what it may be."""
    home = Path(environ.get("SIDECHAT_HOME") or "~/.sidechat").expanduser().absolute()
    found = _file(home / "config.toml")
    settings = {**_settings(found, home / "config.toml"), **_environment(environ)}
    store = settings.get("store") or str(home / "log.db")
    if "://" not in store:
        store = str(Path(store).expanduser().absolute())
    return Config(
        home,
        store,
        settings.get("agent") or "auto",
        _cap(settings.get("note_cap")),
        _servers(found.get("servers", {}), home / "config.toml"),
        settings.get("advisor_system"),
        _window(settings.get("window")),
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    names = {
        "SIDECHAT_STORE": "store",
        "SIDECHAT_AGENT": "agent",
        "SIDECHAT_NOTE_CAP": "note_cap",
    }
    return {field: environ[name] for name, field in names.items() if environ.get(name)}


def _file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"{path} cannot be read: {error}.", then="Correct or remove it."
        ) from error


def _settings(found: Mapping[str, Any], path: Path) -> dict[str, str]:
    unknown = found.keys() - {"store", "agent", "note_cap", "advisor_system", "window", "servers"}
    if unknown:
        raise InvalidRequest(
            f"{path} has unknown settings: {', '.join(sorted(unknown))}.",
            then="Known are store, agent, note_cap, advisor_system, window and [servers.NAME].",
        )
    return {name: str(value) for name, value in found.items() if name != "servers"}


class _Server(BaseModel):
    model_config = ConfigDict(extra="forbid")
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    url: str | None = None
    allow: list[str] = []


_SERVER = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*")
"""A server's name: it stands before two underscores in the names of its tools."""


def _servers(found: object, path: Path) -> Sequence[Server]:
    try:
        given = TypeAdapter(dict[str, _Server]).validate_python(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, ("servers", *first["loc"])))
        raise InvalidRequest(f"{path}: {where}: {first['msg']}.", then="Correct it.") from None
    for name, one in given.items():
        if _SERVER.fullmatch(name) is None:
            raise InvalidRequest(
                f"{path}: {name!r} is no name for a server.",
                then="Use letters, digits, - and single _ between them.",
            )
        if (one.command is None) == (one.url is None):
            raise InvalidRequest(
                f"{path}: servers.{name} needs either `command` or `url`.", then="Give one."
            )
    return tuple(
        Server(name, one.command, tuple(one.args), one.env, one.url, tuple(one.allow))
        for name, one in given.items()
    )


def _cap(given: str | None) -> int:
    if given is None:
        return 2000
    if not (given.isascii() and given.isdigit()) or not 1 <= int(given) <= MOST_CAP:
        raise InvalidRequest(
            f"The note cap is {given!r}.",
            then=f"Set SIDECHAT_NOTE_CAP to a whole number from 1 to {MOST_CAP}.",
        )
    return int(given)


def _window(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdigit()) or int(given) < 1:
        raise InvalidRequest(
            f"The window is {given!r}.", then="Set `window` to the tokens that the model takes."
        )
    return int(given)

"""The only module that chooses. Everything else is handed what it needs.

What is chosen is imported when it is needed, so that a process starts as fast as it can."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from sidechat_mcp.clients.later import Later
from sidechat_mcp.config import Config
from sidechat_mcp.core import schemas
from sidechat_mcp.core.events import Header, TurnStart
from sidechat_mcp.core.ids import word
from sidechat_mcp.errors import BadCredentials, InvalidRequest
from sidechat_mcp.harness.agents import Agents
from sidechat_mcp.harness.sessions import Sessions
from sidechat_mcp.ports.client import Call, Client, Found, Point, Transcript
from sidechat_mcp.ports.provider import About, Keyed, Provider, Windowed
from sidechat_mcp.ports.store import LogStore
from sidechat_mcp.ports.tool import Binding, Toolbox
from sidechat_mcp.seams import Seams
from sidechat_mcp.sidechat.agency import QUOTING, hosted_point
from sidechat_mcp.sidechat.gate import Allowed, read_only
from sidechat_mcp.sidechat.parts import Parts
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.separation import separated
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.tools.box import Box
from sidechat_mcp.tools.mcp_servers import Servers
from sidechat_mcp.tools.workspace import WORKSPACE

ANSWERING = ("claude-code", "codex", "opencode", "pi")
"""The clients that can answer for their own conversations, by a fork of their own."""
NO_NETWORK = "nowhere: nothing leaves this machine"
ANCESTORS = 5
"""How many processes above us may be the client that started us (CONTRACT)."""


class SystemClock:
    """The machine's own time and randomness."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def word(self) -> str:
        return word(secrets.token_bytes(16))


@asynccontextmanager
async def open_sidechat(
    config: Config, *, environ: Mapping[str, str] | None = None
) -> AsyncGenerator[Sidechat]:
    """The feature over the configured store, closed when the context ends.

    Raises: StoreError, NewerSchema, InvalidRequest (a setting)."""
    given = dict(os.environ if environ is None else environ)
    clients = known_clients(given)
    giving = Providers(given, clients)
    store = await open_store(config)
    try:
        async with open_tools(config) as box:
            yield assemble_parts(config, store, given, provider=giving, clients=clients, tools=box)
    finally:
        await giving.close()
        await store.close()


@asynccontextmanager
async def open_tools(config: Config) -> AsyncGenerator[Box]:
    """The tools; configured servers are started when first asked for, and ended here."""
    if not config.servers:
        yield Box(bindings())
        return
    async with anyio.create_task_group() as tasks:
        yield Box(bindings(), Servers(config.servers, tasks))
        tasks.cancel_scope.cancel()


def bindings() -> Mapping[str, Sequence[Binding]]:
    """Which tools of a client's own can be carried out here, by the client's name."""
    from sidechat_mcp.clients.claude_code.bindings import BINDINGS
    from sidechat_mcp.clients.claude_code.drafting import NAME

    return {NAME: BINDINGS}


def _listed(bound: Sequence[Binding]) -> str:
    return schemas.dump((one.name, one.description, one.schema) for one in bound)


def allow_list(config: Config) -> Allowed:
    """What a side session's agent may call, as far as it is read-only: below a client's session
    that client's tools that are bound, else the workspace tools and what the settings allow."""
    bound = {client: frozenset(one.name for one in each) for client, each in bindings().items()}
    own = frozenset(tool.name for tool in WORKSPACE)
    native = own.union(*(server.allowed for server in config.servers))

    def allowed(session: Header) -> frozenset[str]:
        return native if session.client is None else bound.get(session.client, frozenset())

    return allowed


async def open_store(config: Config) -> LogStore:
    """Raises: StoreError, InvalidRequest."""
    if "://" in config.store:
        raise InvalidRequest(
            f"The store {config.store.partition('://')[0]}:// is not supported by this version.",
            then="Set SIDECHAT_STORE to a file's path, or leave it unset.",
        )
    from sidechat_mcp.stores.sqlite.store import open_sqlite

    return await open_sqlite(config.log)


def assemble_parts(
    config: Config,
    store: LogStore,
    environ: Mapping[str, str],
    *,
    provider: Callable[[str], Provider],
    clients: Mapping[str, Client],
    tools: Toolbox | None = None,
) -> Sidechat:
    """Put the feature together; tests hand in parts of their own."""
    clock = SystemClock()
    if config.agent not in ("auto", "client"):
        provider(config.agent)  # A setting that names no agent is refused here, not at a fork.
    box = tools or Box(bindings())
    system = config.advisor_system
    seams = Seams((separated(system),) if system else (), gate=read_only(box, allow_list(config)))
    sessions = Sessions(store)
    agents = Agents(store, sessions, clock, provider, box, seams)

    def about(agent: str) -> About:
        return provider(agent).about

    async def window(agent: str) -> int | None:
        return await known_window(config, agent, provider(agent))

    def here(caller: Caller) -> Call:
        if caller.cwd is None:
            # Over the network: where and by whom we were started says nothing about the caller.
            return Call(caller.meta, {}, (), "", caller.tool, caller.arguments)
        return Call(caller.meta, environ, ancestors(), caller.cwd, caller.tool, caller.arguments)

    parts = Parts(
        store,
        sessions,
        agents,
        clock,
        clients,
        config.agent,
        about,
        here,
        config.note_cap,
        {client: _listed(each) for client, each in bindings().items()},
        window,
    )
    return Sidechat(parts)


async def known_window(config: Config, agent: str, answers: Provider) -> int | None:
    """How many tokens a request to `agent`, which is `answers`, may have: as it is set, else as
    the model's own server or file says; None where nobody does. What quotes has no window."""
    if agent == QUOTING:
        return None
    if config.window is not None:
        return config.window
    return await answers.window() if isinstance(answers, Windowed) else answers.about.window


@dataclass(frozen=True, slots=True)
class Choice:
    """What would answer in a new side session, why, and where the conversation would be sent
    for that. `found` is the conversation that this holds for, where it is a client's; `window`
    how many tokens the model takes, where anybody says; `key` where its key was found, and
    `missing` what is said without the one that it needs."""

    about: About
    why: str
    network: str
    found: Found | None
    window: int | None = None
    key: str = ""
    missing: BadCredentials | None = None


async def answering(config: Config, environ: Mapping[str, str], cwd: str) -> Choice:
    """What would answer in a fork of the newest conversation of the folder `cwd`, as `fork`
    decides it.

    Raises: InvalidRequest (a setting, or nothing can answer), ParentNotFound, UnknownFormat."""
    clients = known_clients(environ)
    newest = [one for client in clients.values() for one in await client.newest(cwd, 1)]
    found = max(newest, key=lambda one: one.active, default=None)
    give = Providers(environ, clients)
    if config.agent not in ("auto", "client"):
        kind = config.agent.partition(":")[0]
        where = NO_NETWORK if kind in (QUOTING, "local") else "to the provider of that model"
        answers = give(config.agent)
        window = await known_window(config, config.agent, answers)
        why = f"the agent is set to {config.agent}"
        return Choice(answers.about, why, where, found, window, *await _key(answers))
    why = f"the agent is `{config.agent}`, and "
    if found is not None:
        point = _last(await clients[found.client].read(found))
        hosted = clients[found.client].hosted(point) if point is not None else None
        if hosted is not None:
            why += f"{found.client} can answer for its own conversation here"
            where = f"to the provider that {found.client} uses"
            window = await known_window(config, config.agent, hosted)
            return Choice(hosted.about, why, where, found, window)
        why += f"{found.client} cannot answer here for {found.ref}"
    else:
        why += "there is no conversation of a client in this folder"
    if config.agent == "client":
        raise InvalidRequest(
            f"Nothing would answer here: {why}.", then="Set SIDECHAT_AGENT to another agent."
        )
    return Choice(give(QUOTING).about, why, NO_NETWORK, found)


async def _key(answers: Provider) -> tuple[str, BadCredentials | None]:
    try:
        return (await answers.key_place() if isinstance(answers, Keyed) else "", None)
    except BadCredentials as error:
        return "", error


def _last(read: Transcript) -> Point | None:
    """Where a fork would be made: the last completed turn."""
    turns = [draft.body.turn for draft in read.drafts if isinstance(draft.body, TurnStart)]
    if not turns:
        return None
    record = read.drafts[-1].id.partition(":")[0]
    return Point(read.client, read.ref, turns[-1], record, read.cwd)


def sqlite_version() -> str:
    """The version of the SQLite that the log is written with."""
    import apsw

    return str(apsw.sqlite_lib_version())


class Providers:
    """What answers under an agent's name; each is made once, when first needed."""

    def __init__(self, environ: Mapping[str, str], clients: Mapping[str, Client]) -> None:
        self._environ = environ
        self._clients = clients
        self._made: dict[str, Provider] = {}

    def __call__(self, agent: str) -> Provider:
        """Raises: InvalidRequest (no such agent, or its client cannot answer here)."""
        if agent not in self._made:
            self._made[agent] = self._make(agent)
        return self._made[agent]

    async def close(self) -> None:
        """End what was started for answering, all at once, and wait until it is gone."""
        for way in ("close", "gone"):
            for provider in self._made.values():
                end = getattr(provider, way, None)
                left = end() if end is not None else None
                if left is not None:
                    await left

    def _make(self, agent: str) -> Provider:
        if agent == QUOTING:
            from sidechat_mcp.providers.quoting.provider import Quoting

            return Quoting()
        point = hosted_point(agent)
        if point is None:
            from sidechat_mcp.providers.named import for_agent

            return for_agent(agent, self._environ)
        client = self._clients.get(point.client)
        hosted = client.hosted(point) if client is not None else None
        if hosted is None:
            raise InvalidRequest(
                f"{point.client} cannot answer here any more.",
                then="Fork again with another agent (SIDECHAT_AGENT).",
            )
        return hosted


OTHERS: Mapping[str, tuple[str, str | None]] = {
    "gemini": ("gemini", None),
    "qwen": ("qwen", "QWEN_CODE_SESSION_ID"),
    "vscode": ("vscode", "vscode.conversationId"),
    "copilot": ("copilot", "COPILOT_AGENT_SESSION_ID"),
    "goose": ("goose", "agent-session-id"),
    "cursor": ("cursor", None),
    "continue": ("continue_dev", None),
    "cline": ("cline", None),
    "zed": ("zed", None),
}
"""Clients whose conversations are found and read, and no more: by name, the folder that knows
them and what says that a call comes from one."""


def known_clients(environ: Mapping[str, str]) -> Mapping[str, Client]:
    """Every client whose conversations can be read, by name."""
    from sidechat_mcp.clients.claude_code.client import ClaudeCode
    from sidechat_mcp.clients.codex.client import Codex
    from sidechat_mcp.clients.opencode.client import Opencode
    from sidechat_mcp.clients.pi.client import Pi, began

    since = began()
    clients: list[Client] = [
        *(ClaudeCode(environ), Codex(environ)),
        *(Opencode(environ, since=since), Pi(environ, since=since)),
    ]
    clients += (
        Later(name, f"sidechat_mcp.clients.{folder}.client", sign, environ)
        for name, (folder, sign) in OTHERS.items()
    )
    return {client.name: client for client in clients}


def ancestors() -> list[int]:
    """The pids above this process, nearest first; those that cannot be seen end the list."""
    found = [os.getppid()]
    while len(found) < ANCESTORS and found[-1] > 1:
        parent = _parent(found[-1])
        if parent is None:
            break
        found.append(parent)
    return found


def _parent(pid: int) -> int | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return int(status.rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None

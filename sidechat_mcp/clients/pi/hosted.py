"""A side session answered by pi itself: its own fork of a copy that ends at the cut.

Facts (clients C4): `--fork` of a file keeps system prompt, tools and messages as they were, and
`--session-dir` keeps what it writes in a folder of ours. Every tool is denied by an extension of
ours, which no other one can outvote; before anything is asked the fork has to show that it is in
it. The parent's id goes along, for some providers find their cache by it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.to_thread import run_sync

from sidechat_mcp.clients import briefing, hosting
from sidechat_mcp.clients.lodging import end, gone, leave, start
from sidechat_mcp.clients.pi import room as rooms
from sidechat_mcp.clients.pi.places import Places
from sidechat_mcp.clients.pi.room import Room
from sidechat_mcp.clients.pi.rpc import Answer, Pipe
from sidechat_mcp.clients.values import mapping, sequence
from sidechat_mcp.clients.waiting import Waiting
from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import ProviderError, Unreachable
from sidechat_mcp.ports.client import Point
from sidechat_mcp.ports.provider import About, Chunk

_SECRETS = ("PI_SESSION_ID", "PI_SESSION_FILE")
"""What speaks for the session that started us."""
ASIDE = "[Side question] "


@dataclass(slots=True)
class Running:
    """A fork at work: `told` is how many of the session's own messages it has been given."""

    pipe: Pipe
    room: Room
    told: int = 0

    @property
    def runs(self) -> bool:
        return self.pipe.process.returncode is None

    def end(self) -> None:
        end(self.pipe.process)
        self.room.close()

    async def leave(self) -> None:
        await leave(self.pipe.process)
        self.room.close()

    async def gone(self) -> None:
        await gone(self.pipe.process)
        self.room.close()


@dataclass(slots=True)
class Fork:
    """pi's own fork at `point`, by the program `program`."""

    point: Point
    program: str
    environ: Mapping[str, str]
    waiting: Waiting[Running] = field(default_factory=Waiting[Running])

    @property
    def about(self) -> About:
        return hosting.about("pi", "pi")

    def wire(self, context: Context) -> Mapping[str, str]:
        return {}

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        running = await self.waiting.take(self.point, context.session)
        own = briefing.own(context)
        try:
            if running is None:
                running = await self._start()
                await _shown(running.pipe)
            words = briefing.words(own[running.told :])
            # A text that begins with a slash is a command of pi's, and some of those act.
            asked = ASIDE + words if words.startswith("/") else words
            await running.pipe.say({"id": "prompt", "type": "prompt", "message": asked})
            answer = Answer(running.pipe)
            yield answer.chunks()
            if answer.done:
                running.told = len(own) + 1  # With the answer that the loop is about to keep.
                kept, running = running, None
                await self.waiting.keep(self.point, context.session, kept)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise Unreachable(
                "pi could not be talked to.", then="See `sidechat doctor`."
            ) from error
        finally:
            if running is not None:
                await running.gone()

    def close(self) -> None:
        self.waiting.close(self.point)

    async def gone(self) -> None:
        """Wait until nothing is left of what `close` ended."""
        await self.waiting.gone(self.point)

    async def _start(self) -> Running:
        room = await run_sync(self._room)
        try:
            argv = [self.program, "--fork", str(room.copy), "--session-id", self.point.ref]
            argv += ["--session-dir", str(room.sessions), "--mode", "rpc", "-e", str(room.gate)]
            kept = {name: value for name, value in self.environ.items() if name not in _SECRETS}
            process = await start(argv, self.point.cwd, kept)
            assert process.stdout is not None
            return Running(Pipe(process, BufferedByteReceiveStream(process.stdout)), room)
        except BaseException:
            room.close()
            raise

    def _room(self) -> Room:
        found = Places(self.environ).find(self.point.ref, self.point.cwd)
        if found is None:
            raise ProviderError(
                f"pi has no session {self.point.ref} any more.", then="Fork another one."
            )
        return rooms.make(self.environ, Path(found.path), self.point.record)


async def _shown(pipe: Pipe) -> None:
    """Wait until the fork is there and shows the gate. Raises: ProviderError."""
    commands = (await pipe.ask("get_commands")).get("commands")
    if rooms.GATE not in {str(mapping(one).get("name")) for one in sequence(commands)}:
        raise ProviderError(
            "pi did not load the gate that keeps a side conversation read-only, so nothing was"
            " asked.",
            then="Set SIDECHAT_AGENT to another agent.",
        )

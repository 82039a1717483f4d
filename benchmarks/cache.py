"""What of a parent's request a child finds in the provider's cache, measured against a real
llama.cpp server in all three wire formats. Prints a table; exits 1 where a figure is missed.

    python -m benchmarks.cache [--model FILE.gguf] [--tokens N]

Without a model one of random weights is made: what it says is noise, what it has cached is real.

Shares are of whole requests. What was said since the fork is a part of them that the one slot reads
again whenever the other line was answered meanwhile (150 tokens here: the framing, two questions
and their answers), so a history has to be long for the bar to mean the history: 97 % of 4,600 would
be missed by that alone. Tokens are exact; a time that is missed is measured again."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import urllib.request
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from benchmarks import random_gguf
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import plain, text
from sidechat_mcp.core.events import Part, RequestHeader
from sidechat_mcp.core.framing import FRAMING
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.ports.provider import About
from sidechat_mcp.providers.anthropic import wire as anthropic
from sidechat_mcp.providers.exchange.endpoint import endpoint
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import Turnstiles
from sidechat_mcp.providers.exchange.speech import Access, Wire
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.local.engine import Engine
from sidechat_mcp.providers.openai_chat import wire as openai_chat
from sidechat_mcp.providers.openai_responses import wire as openai_responses

TOKENS, FEWEST, ROOM = 9600, 6000, 1500
"""How long the parent's history is; the fewest that are enough; what else the window must hold."""
CORPUS = 90
"""Reports that the random model's vocabulary is made from, and that are counted."""
SIBLINGS = 3
"""Children of the one fork; the times are medians, the tokens those of the worst."""
INHERITED, INTERLEAVED, CHANGED, SOONER = 0.99, 0.97, 0.01, 1 / 20
ROUNDS = 2
TRIES = 3
SYSTEM = "You help a team that runs a billing service; answer briefly and say what is not known."
SERVICES = ("ledger", "gateway", "invoices", "refunds", "exports", "worker", "scheduler")
STATES = ("timed out", "was retried", "failed", "was slow", "restarted", "was skipped")


@dataclass(frozen=True, slots=True)
class Format:
    """A wire, the path before its own one, and what it calls the limit of an answer."""

    wire: Wire
    path: str
    limit: str


FORMATS: Mapping[str, Format] = {
    "/v1/messages": Format(anthropic.wire("llama.cpp", "m"), "", "max_tokens"),
    "/v1/responses": Format(openai_responses.wire("llama.cpp", "m"), "/v1", "max_output_tokens"),
    "/v1/chat/completions": Format(openai_chat.wire("llama.cpp", "m"), "/v1", "max_tokens"),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """`seconds` until the first of the answer; tokens as the server counted them."""

    seconds: float
    prompt: int
    cached: int
    output: int
    said: str


@dataclass(slots=True)
class Line:
    """One conversation: every question is sent with all that was said before."""

    provider: Wired
    header: RequestHeader
    messages: list[Message] = field(default_factory=list[Message])
    inherited: int = 0

    async def ask(self, *words: str) -> Answered:
        """Say `words`, one message each, the first ones in no turn of their own."""
        self.messages += [Message("context", text(said)) for said in words[:-1]]
        self.messages.append(Message("user", text(words[-1])))
        context = Context(self.header, tuple(self.messages), self.inherited)
        self.provider.wire(context)  # Encoded before the clock starts.
        reply = Reply(TurnId("t"))
        begun = perf_counter()
        async with self.provider.stream(context) as chunks:
            seconds = perf_counter() - begun
            async for chunk in chunks:
                reply.fold(chunk)
        spent = reply.spent
        if spent is None or spent.input is None or spent.cache_read is None:
            raise SystemExit("The server reported no cached tokens.")
        said = reply.text or "Noted."
        self.messages.append(Message("assistant", text(said)))
        return Answered(seconds, spent.input, spent.cache_read, spent.output or 0, said)

    def fork(self, system: str | None = None) -> Line:
        """A child of this conversation as it is; with `system` its head is another."""
        header = self.header
        if system is not None:
            header = RequestHeader(Part(system), header.tools, header.model, header.settings)
        return Line(self.provider, header, list(self.messages), len(self.messages))


@dataclass(slots=True)
class Table:
    missed: int = 0

    def answer(self, name: str, got: Answered) -> None:
        """How much of a request that goes on was cached."""
        shown = f"{got.cached} of {got.prompt}"
        self.row(name, got.cached / got.prompt, INTERLEAVED, shown=shown)

    def row(
        self, name: str, value: float, figure: float, *, least: bool = True, shown: str = ""
    ) -> None:
        met = value >= figure if least else value <= figure
        self.missed += not met
        sign = "≥" if least else "≤"
        verdict = "met" if met else "MISSED"
        say(f"  {name:<52} {value:>8.2%}  {sign} {figure:<6.0%} {verdict:<7} {shown}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def history(salt: str, reports: int) -> list[Message]:
    """A long talk, another one for each salt."""
    drawn = random.Random(salt)
    messages: list[Message] = []
    for n in range(reports):
        lines = [
            f"the {drawn.choice(SERVICES)} of tenant {drawn.randint(1, 99)} {drawn.choice(STATES)}"
            for _ in range(8)
        ]
        messages.append(Message("user", text(f"Report {n}: " + "; ".join(lines) + ".")))
        noted = f"Noted report {n}: the {drawn.choice(SERVICES)} needs a look before the next one."
        messages.append(Message("assistant", text(noted)))
    return messages


@dataclass(frozen=True, slots=True)
class Ground:
    """A running server, and how many reports make a history there."""

    address: str
    key: str
    reports: int = 0

    def provider(self, format: Format) -> Wired:
        where = endpoint(self.address + format.path)
        access = Access("llama.cpp", where, lambda: Secret(self.key))
        return Wired(About("bench", "m", "nobody", "none"), format.wire, access, Turnstiles())

    def line(self, name: str, salt: str) -> Line:
        """A parent in the format `name`. Another salt is another system prompt and another talk,
        so that nobody finds what somebody else left."""
        format = FORMATS[name]
        settings = {format.limit: 8, "temperature": 0}
        header = RequestHeader(Part(f"{salt}. {SYSTEM}"), model="m", settings=settings)
        return Line(self.provider(format), header, history(name + salt, self.reports))

    async def sized(self, tokens: int) -> Ground:
        """With as many reports as make `tokens`, or what the model's window leaves."""
        window = await self.provider(FORMATS["/v1/chat/completions"]).window()
        if window is not None:
            tokens = min(tokens, window - ROOM)
        if tokens < FEWEST:
            raise SystemExit(f"A history of {tokens} tokens is too short: {FEWEST} are the fewest.")
        spelled = "\n".join(plain(message.content) for message in history("size", CORPUS))
        counted = await anyio.to_thread.run_sync(self._count, spelled)
        return replace(self, reports=tokens * CORPUS // counted)

    def _count(self, words: str) -> int:
        request = urllib.request.Request(
            f"{self.address}/tokenize",
            json.dumps({"content": words}).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self.key}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return len(json.loads(answer.read())["tokens"])


@dataclass(frozen=True, slots=True)
class Family:
    """A parent after a cold start and a second question, its children, and what each was told
    first. `sooner` is a child's time to its first token, as a part of the cold one's."""

    parent: Line
    cold: Answered
    last: Answered
    children: Sequence[Line]
    firsts: Sequence[Answered]

    @property
    def seconds(self) -> float:
        return median(first.seconds for first in self.firsts)

    @property
    def sooner(self) -> float:
        return self.seconds / self.cold.seconds


async def family(ground: Ground, name: str, salt: str) -> Family:
    parent = ground.line(name, salt)
    cold = await parent.ask("What needs a look first?")
    say(f"{name}: {cold.prompt} tokens, cold {cold.seconds:.2f} s")
    if cold.prompt < FEWEST or cold.cached > cold.prompt * CHANGED:
        raise SystemExit(f"That was no cold start of {FEWEST} tokens.")
    last = await parent.ask("And then?")
    children = [parent.fork() for _ in range(SIBLINGS)]
    firsts = [await child.ask(FRAMING, f"Why the {n}?") for n, child in enumerate(children)]
    return Family(parent, cold, last, children, firsts)


async def measure(name: str, ground: Ground, table: Table) -> None:
    found = await family(ground, name, f"{name} 1")
    best = found
    for n in range(2, TRIES + 1):
        if best.sooner <= SOONER:
            break
        again = await family(ground, name, f"{name} {n}")
        best = min(best, again, key=lambda one: one.sooner)
        found = again
    parent, child = found.parent, found.children[0]
    inherited = found.last.prompt + found.last.output
    cached = min(first.cached for first in found.firsts)
    shown = f"{cached} of {inherited}"
    table.row(
        "child's first request: inherited tokens cached", cached / inherited, INHERITED, shown=shown
    )
    shown = f"{best.seconds:.3f} of {best.cold.seconds:.2f} s"
    table.row(
        "child's first token, against the cold one", best.sooner, SOONER, least=False, shown=shown
    )
    for turn in range(ROUNDS):
        for who, line in (("parent", parent), ("child", child)):
            got = await line.ask(f"Go on with step {turn}.")
            table.answer(f"{who}, turn about {turn + 1}", got)
    changed = (parent.header.system.text or "").replace("help", "hElp")
    control = await parent.fork(changed).ask(FRAMING, "Why the first?")
    table.row(
        "control: one byte of the system prompt changed",
        control.cached / control.prompt,
        CHANGED,
        least=False,
        shown=f"{control.cached} of {control.prompt}",
    )
    table.answer("child after the control", await child.ask("Still there?"))


def corpus() -> str:
    """Text that has the words of the conversations, for the random model's vocabulary."""
    said = [plain(message.content) for message in history("corpus", CORPUS)]
    return " ".join([SYSTEM, FRAMING, "system user assistant", *said])


@asynccontextmanager
async def running(start: Callable[[], Engine]) -> AsyncGenerator[Ground]:
    engine = start()
    try:
        yield Ground(await anyio.to_thread.run_sync(engine.address), engine.key)
    finally:
        await anyio.to_thread.run_sync(engine.close)


async def restarted(start: Callable[[], Engine], reports: int, table: Table) -> None:
    """What is still known after the server's process was ended and begun again."""
    name = "/v1/chat/completions"
    asked: list[Answered] = []
    for _ in range(2):
        async with running(start) as ground:
            line = replace(ground, reports=reports).line(name, "again")
            asked.append(await line.ask("What needs a look first?"))
    say(f"{name}, the process ended and begun again")
    table.answer("the same request", asked[1])


async def run(model: Path | None, tokens: int) -> int:
    table = Table()
    with tempfile.TemporaryDirectory(prefix="sidechat-cache-") as folder:
        if model is None:
            model = Path(folder) / "random.gguf"
            random_gguf.write(model, corpus())
        start = partial(Engine, model, Path(folder) / "slots")
        async with running(start) as ground:
            say(f"{model.name}, one slot, {ground.address}")
            ground = await ground.sized(tokens)
            for name in FORMATS:
                await measure(name, ground, table)
        await restarted(start, ground.reports, table)
    say("all figures met" if not table.missed else f"{table.missed} figures missed")
    return 1 if table.missed else 0


def file(given: str) -> Path:
    """The server has another folder than we, so where a file is has to be said whole."""
    path = Path(given).expanduser().absolute()
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {path}")
    return path


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    arguments.add_argument("--model", type=file, help="a GGUF file instead of random weights")
    arguments.add_argument("--tokens", type=int, default=TOKENS, help="length of the history")
    given = arguments.parse_args()
    sys.exit(anyio.run(run, given.model, given.tokens))


if __name__ == "__main__":
    main()

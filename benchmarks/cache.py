"""What of a parent's request a child finds in the provider's cache, measured against a real
llama.cpp server in all three wire formats. Prints a table; exits 1 where a figure is missed.

    python -m benchmarks.cache [--model FILE.gguf] [--reports N]

Without a model one of random weights is made: what it says is noise, what it has cached is real."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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

REPORTS = 90
"""How long the parent's history is, each about 110 tokens; at least 4,000 are asked for."""
SIBLINGS = 3
"""Children of the one fork; the times are medians, the tokens those of the worst."""
INHERITED, INTERLEAVED, CHANGED, SOONER = 0.99, 0.97, 0.01, 1 / 20
ROUNDS = 2
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


def salted(salt: int) -> str:
    """The system prompt of one format, so that none finds what another left."""
    return f"{salt}. {SYSTEM}"


async def measure(name: str, address: str, key: str, reports: int, table: Table) -> None:
    format = FORMATS[name]
    about = About("bench", "m", "nobody", "none")
    access = Access("llama.cpp", endpoint(address + format.path), lambda: Secret(key))
    provider = Wired(about, format.wire, access, Turnstiles())
    number = list(FORMATS).index(name) + 1
    header = RequestHeader(
        Part(salted(number)), model="m", settings={format.limit: 8, "temperature": 0}
    )
    parent = Line(provider, header, history(name, reports))
    cold = await parent.ask("What needs a look first?")
    say(f"{name}: {cold.prompt} tokens, cold {cold.seconds:.2f} s")
    if cold.prompt < 4000 or cold.cached > cold.prompt * CHANGED:
        raise SystemExit("That was no cold start of 4,000 tokens.")
    last = await parent.ask("And then?")
    children = [parent.fork() for _ in range(SIBLINGS)]
    firsts = [await child.ask(FRAMING, f"Why the {n}?") for n, child in enumerate(children)]
    inherited, child = last.prompt + last.output, children[0]
    cached = min(first.cached for first in firsts)
    table.row(
        "child's first request: inherited tokens cached",
        cached / inherited,
        INHERITED,
        shown=f"{cached} of {inherited}",
    )
    seconds = median(first.seconds for first in firsts)
    table.row(
        "child's first token, against the cold one",
        seconds / cold.seconds,
        SOONER,
        least=False,
        shown=f"{seconds:.3f} s",
    )
    for turn in range(ROUNDS):
        for who, line in (("parent", parent), ("child", child)):
            got = await line.ask(f"Go on with step {turn}.")
            table.answer(f"{who}, turn about {turn + 1}", got)
    changed = salted(number).replace("help", "hElp")
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
    said = [plain(message.content) for message in history("corpus", REPORTS)]
    return " ".join([SYSTEM, FRAMING, "system user assistant", *said])


async def restarted(start: Callable[[], Engine], reports: int, table: Table) -> None:
    """What is still known after the server's process was ended and begun again."""
    name = "/v1/chat/completions"
    format = FORMATS[name]
    header = RequestHeader(Part(salted(9)), settings={format.limit: 8, "temperature": 0})
    messages = history("restart", reports)
    asked: list[Answered] = []
    for _ in range(2):
        engine = start()
        address = await anyio.to_thread.run_sync(engine.address)
        access = Access("llama.cpp", endpoint(address + format.path), lambda: Secret(engine.key))  # noqa: B023
        provider = Wired(About("bench", "m", "nobody", "none"), format.wire, access, Turnstiles())
        line = Line(provider, header, list(messages))
        asked.append(await line.ask("What needs a look first?"))
        await anyio.to_thread.run_sync(engine.close)
    say(f"{name}, the process ended and begun again")
    table.answer("the same request", asked[1])


async def run(model: Path | None, reports: int) -> int:
    table = Table()
    with tempfile.TemporaryDirectory(prefix="sidechat-cache-") as folder:
        if model is None:
            model = Path(folder) / "random.gguf"
            random_gguf.write(model, corpus())

        def start() -> Engine:
            assert model is not None
            return Engine(model, Path(folder) / "slots")

        engine = start()
        try:
            address = await anyio.to_thread.run_sync(engine.address)
            say(f"{model.name}, one slot, {address}")
            for name in FORMATS:
                await measure(name, address, engine.key, reports, table)
        finally:
            await anyio.to_thread.run_sync(engine.close)
        await restarted(start, reports, table)
    say("all figures met" if not table.missed else f"{table.missed} figures missed")
    return 1 if table.missed else 0


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    arguments.add_argument("--model", type=Path, help="a GGUF file instead of random weights")
    arguments.add_argument("--reports", type=int, default=REPORTS, help="length of the history")
    given = arguments.parse_args()
    sys.exit(anyio.run(run, given.model, given.reports))


if __name__ == "__main__":
    main()

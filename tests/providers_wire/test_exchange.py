"""One request and its stream over a real connection: what is sent again, when, and where to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from email.utils import formatdate

import anyio
import pytest

from sidechat_mcp import errors
from sidechat_mcp.core.assemble import Context, Message
from sidechat_mcp.core.content import Text, text
from sidechat_mcp.core.events import RequestHeader
from sidechat_mcp.core.ids import TurnId
from sidechat_mcp.errors import (
    AnswerCut,
    InvalidRequest,
    Overloaded,
    ProviderError,
    RateLimited,
    RejectedRequest,
    Unreachable,
)
from sidechat_mcp.harness.reply import Reply
from sidechat_mcp.providers.exchange.endpoint import endpoint
from sidechat_mcp.providers.exchange.pace import Pace, Turnstiles
from sidechat_mcp.providers.exchange.wired import Wired
from tests.behaviours import behaviour
from tests.providers_wire.loopback import Say, complaint, loopback, stream
from tests.providers_wire.wires import FAST, SPOKEN, Spoken

CONTEXT = Context(RequestHeader(), [Message("user", text("Hi"))])
EACH = pytest.mark.parametrize("spoken", SPOKEN, ids=lambda spoken: spoken.name)
ONE = SPOKEN[0]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


async def ask(provider: Wired, reply: Reply | None = None) -> Reply:
    """The answer, folded into `reply`. Raises what the provider raises."""
    reply = reply or Reply(TurnId("t"))
    with anyio.fail_after(20):
        async with provider.stream(CONTEXT) as chunks:
            async for chunk in chunks:
                reply.fold(chunk)
    return reply


async def refused(provider: Wired) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await ask(provider)
    return raised.value


@EACH
async def test_what_is_sent_is_what_was_encoded_and_the_answer_comes_back(spoken: Spoken) -> None:
    async with loopback(stream(*spoken.plain)) as server:
        provider = spoken.at(server.url)
        reply = await ask(provider)
    assert (reply.text, reply.ending()) == ("Yes.", ("completed", None))
    (asked,) = server.asked
    assert asked.body == provider.encode(CONTEXT).body
    assert asked.line == f"POST {spoken.wire.path} HTTP/1.1"


@EACH
@behaviour("wire:retried")
async def test_an_overload_before_the_first_byte_is_tried_again(spoken: Spoken) -> None:
    script = [
        complaint(529, b'{"error":{"type":"overloaded_error","message":"Overloaded"}}'),
        stream(*spoken.overloaded),
        Say(cut=True),
        stream(*spoken.plain),
    ]
    async with loopback(*script) as server:
        assert (await ask(spoken.at(server.url))).text == "Yes."
    assert len(server.asked) == 4
    assert len({asked.body for asked in server.asked}) == 1, "the same bytes each time"


@EACH
@behaviour("wire:retried")
async def test_four_attempts_are_the_most(spoken: Spoken) -> None:
    async with loopback(complaint(503, b"busy")) as server:
        error = await refused(spoken.at(server.url))
    assert (type(error), error.retryable, len(server.asked)) == (Overloaded, True, 4)
    assert str(error) == "Stub cannot answer at the moment: busy. Ask again."


def halves(spoken: Spoken) -> Sequence[bytes]:
    """The long answer up to the second piece of its text."""
    upto = next(n for n, event in enumerate(spoken.long) if b"I read " in event)
    return spoken.long[: upto + 1]


@EACH
@pytest.mark.parametrize("end", ["error", "cut", "short"])
@behaviour("wire:half")
async def test_once_something_was_said_nothing_is_sent_again(spoken: Spoken, end: str) -> None:
    pieces = [*halves(spoken), *(spoken.overloaded if end == "error" else ())]
    async with loopback(Say(pieces=pieces, cut=end == "cut"), stream(*spoken.plain)) as server:
        provider, reply = spoken.at(server.url), Reply(TurnId("t"))
        with pytest.raises(Overloaded if end == "error" else AnswerCut):
            await ask(provider, reply)
        assert len(server.asked) == 1
        assert (reply.content, reply.ending()[0]) == ((Text("I read "),), "error")
        assert (await ask(provider)).text == "Yes.", "the next turn works"


@EACH
@behaviour("wire:half")
async def test_an_error_in_the_same_packet_as_words_loses_no_word(spoken: Spoken) -> None:
    packet = b"".join([*halves(spoken), *spoken.overloaded])
    reply = Reply(TurnId("t"))
    async with loopback(Say(pieces=[packet])) as server:
        with pytest.raises(Overloaded):
            await ask(spoken.at(server.url), reply)
    assert reply.text == "I read "


@pytest.mark.parametrize("form", ["seconds", "date"])
@behaviour("wire:retry-after")
async def test_24_that_share_a_key_wait_as_asked_and_return_apart(form: str) -> None:
    asked_for = 2.0
    after = "2" if form == "seconds" else formatdate(time.time() + asked_for + 1, usegmt=True)
    limited = complaint(429, b'{"error":{"type":"rate_limit_error"}}', retry_after=after)
    stiles, pace = Turnstiles(), Pace(first=0.05, deadline=20)
    begun = anyio.current_time()
    async with (
        loopback(*[limited] * 24, stream(*ONE.plain)) as server,
        anyio.create_task_group() as group,
    ):
        for _ in range(24):
            group.start_soon(ask, ONE.at(server.url, pace=pace, stiles=stiles))
    again = [asked.at - begun for asked in server.asked[24:]]
    assert len(again) == 24
    assert min(again) >= asked_for
    assert max(again) - min(again) >= 0.2 * asked_for


async def test_who_comes_while_a_key_must_wait_waits_as_well() -> None:
    limited = complaint(429, b"{}", retry_after="1")
    stiles = Turnstiles()
    async with loopback(limited, stream(*ONE.plain)) as server:
        patient = ONE.at(server.url, stiles=stiles, pace=Pace(attempts=1))
        assert isinstance(await refused(patient), RateLimited)
        assert (await ask(ONE.at(server.url, stiles=stiles, key="another"))).text == "Yes."
        await ask(ONE.at(server.url, stiles=stiles))
    first, another, same = [asked.at for asked in server.asked]
    assert another - first < 1 <= same - first


async def test_a_wait_over_the_deadline_is_an_error_at_once_and_says_when() -> None:
    limited = complaint(429, b"{}", retry_after="3600")
    stiles = Turnstiles()
    async with loopback(limited) as server:
        with anyio.fail_after(2):
            error = await refused(ONE.at(server.url, stiles=stiles))
            following = await refused(ONE.at(server.url, stiles=stiles))
    assert (type(error), type(following), len(server.asked)) == (RateLimited, RateLimited, 1)
    assert "Ask again in 3600 s." in str(error)
    assert "Ask again in 3" in str(following)


@behaviour("wire:cancelled")
async def test_a_wait_can_be_cancelled() -> None:
    async with loopback(complaint(429, b"{}", retry_after="100")) as server:
        with anyio.move_on_after(0.5) as scope:
            await ask(ONE.at(server.url, pace=Pace(deadline=600)))
        assert scope.cancelled_caught
        assert len(server.asked) == 1


@EACH
@behaviour("wire:cancelled")
async def test_leaving_early_closes_the_connection(spoken: Spoken) -> None:
    async with loopback(Say(pieces=halves(spoken), hang=True)) as server:
        with anyio.fail_after(5):
            async with spoken.at(server.url).stream(CONTEXT) as chunks:
                async for _ in chunks:
                    break
            await server.gone.wait()


async def test_a_provider_that_says_nothing_is_given_up_at_the_deadline() -> None:
    async with loopback(Say(hang=True)) as server:
        error = await refused(ONE.at(server.url, pace=Pace(deadline=0.3)))
    assert isinstance(error, Unreachable)
    assert "did not begin to answer" in str(error)


@behaviour("wire:one-host")
async def test_a_redirect_is_not_followed() -> None:
    async with loopback(Say(307, headers=[("location", "http://127.0.0.1:1/")])) as server:
        error = await refused(ONE.at(server.url))
    assert (type(error), len(server.asked)) == (RejectedRequest, 1)


async def test_nothing_there_is_said_with_the_address() -> None:
    error = await refused(ONE.at("http://127.0.0.1:1"))
    assert isinstance(error, Unreachable)
    assert "Stub at http://127.0.0.1:1 cannot be reached" in str(error)


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, '{"error":{"type":"authentication_error","message":"bad"}}', "bad_credentials"),
        (403, "{}", "bad_credentials"),
        (402, "{}", "quota_spent"),
        (429, '{"error":{"code":"insufficient_quota","message":"x"}}', "quota_spent"),
        (400, '{"error":{"message":"Your credit balance is too low"}}', "quota_spent"),
        (429, '{"error":{"message":"Check your plan and billing details"}}', "rate_limited"),
        (429, "{}", "rate_limited"),
        (404, '{"error":{"type":"not_found_error","message":"model: x"}}', "unknown_model"),
        (400, '{"error":{"message":"prompt is too long: 9 tokens > 8"}}', "context_overflow"),
        (400, '{"error":{"type":"exceed_context_size_error","message":"m"}}', "context_overflow"),
        (400, '{"error":{"code":"context_length_exceeded","message":"m"}}', "context_overflow"),
        (413, "too large", "context_overflow"),
        (400, '{"error":{"message":"temperature must be a number"}}', "rejected_request"),
        (422, "[]", "rejected_request"),
        (500, "", "overloaded"),
        (529, "<html>", "overloaded"),
        (200, "{}", "rejected_request"),
        (200, '{"error":{"type":"overloaded_error"}}', "overloaded"),
    ],
)
@behaviour("wire:errors-named")
async def test_each_failure_has_its_name(status: int, body: str, code: str) -> None:
    async with loopback(complaint(status, body.encode())) as server:
        error = await refused(ONE.at(server.url))
    assert error.code == code
    retried = code in ("overloaded", "rate_limited")
    assert (error.retryable, len(server.asked)) == (retried, 4 if retried else 1)


async def test_a_provider_that_forbids_it_is_not_asked_again() -> None:
    async with loopback(complaint(503, b"{}", x_should_retry="false")) as server:
        assert not (await refused(ONE.at(server.url))).retryable
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/v1",
        "ftp://127.0.0.1/",
        "https://user:word@example.com",
        "https://example.com/v1?key=word",
        "https://",
        "example.com",
        "http://127.0.0.1.example.com",
        "http://[::1",
    ],
)
@behaviour("wire:one-host")
def test_an_address_that_is_unsafe_or_says_a_secret_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        endpoint(url)
    assert "word" not in str(raised.value)


def test_an_address_is_https_or_on_this_machine() -> None:
    assert endpoint("https://example.com/v1/", "/x").url == "https://example.com/v1"
    assert endpoint("http://localhost:8080", "/v1").url == "http://localhost:8080/v1"
    assert endpoint("http://[::1]:80/a").url == "http://[::1]:80/a"
    assert endpoint("http://127.9.9.9").local


def test_every_error_of_a_provider_stands_in_the_tree_that_is_drawn() -> None:
    drawn = errors.__doc__ or ""
    for kind in ProviderError.__subclasses__():
        assert f" {kind.__name__} " in drawn


def test_the_pace_doubles_up_to_its_longest_and_is_never_under_what_was_asked() -> None:
    pace = Pace(first=1, longest=5, spread=0.5, chance=lambda: 0.0)
    assert [pace.wait(n, None) for n in (1, 2, 3, 4)] == [1, 2, 4, 5]
    assert [pace.wait(1, 3.5), pace.wait(3, 3.5)] == [3.5, 4]
    assert Pace(chance=lambda: 1.0).wait(1, 10) == 15
    assert FAST.attempts == 4

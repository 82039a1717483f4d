"""What a child keeps of its parent's request head, and histories that are too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sidechat_mcp.bootstrap import assemble_parts
from sidechat_mcp.config import Config
from sidechat_mcp.core.content import Text, plain
from sidechat_mcp.core.events import Part
from sidechat_mcp.core.framing import FRAMING
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.provider import About, Chunk, Done, Spent, Whole
from sidechat_mcp.providers.quoting.provider import Quoting
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.feature.workshop import Shelf, Speaker, shelved, workshop

ME = Caller()
MODEL = About("speaker", "speaker-1", "you", "none")


@behaviour("fork:changed-head")
async def test_what_a_client_does_not_tell_of_its_head_is_said_to_be_changed() -> None:
    sidechat = workshop(agents={"speaker": Speaker(["…"], about=MODEL)})
    report = await sidechat.fork(ME, parent="shelf:r1")
    assert (report.head, report.head_digest) == ("changed: system prompt, tools, model", None)
    assert "prompt cache" in report.notice


@behaviour("fork:changed-head")
async def test_another_model_under_the_same_words_changes_only_the_model() -> None:
    speakers = {
        "speaker": Speaker(["A."], about=MODEL),
        "other": Speaker(["B."], about=replace(MODEL, model="other-2")),
    }
    store = MemoryStore()
    native = await workshop(store, agents=speakers).native(ME, system="Be brief.")
    await workshop(store, agents=speakers).converse(ME, "Hi?", session=native.id)
    sidechat = workshop(store, agents=speakers, agent="other")
    report = await sidechat.fork(ME, parent=native.id, question="And?")
    assert (report.head, report.notice) == ("changed: model", "")
    assert speakers["other"].seen[0].header.system == Part(text="Be brief.")
    assert speakers["other"].seen[0].header.model == "other-2"


@behaviour("fork:long")
async def test_a_history_that_nearly_fills_the_window_is_said_and_a_larger_one_refused() -> None:
    speaker = Speaker(["…"], about=replace(MODEL, window=300))
    shelf = Shelf({"r1": shelved(("Q?", "word " * 220)), "r2": shelved(("Q?", "word " * 400))})
    sidechat = workshop(shelf=shelf, agents={"speaker": speaker})
    near = await sidechat.fork(ME, parent="shelf:r1")
    assert "nearly fills the window of speaker-1 (300)" in near.notice
    over = await sidechat.fork(ME, parent="shelf:r2")
    assert "is more than the window" in over.notice
    with pytest.raises(InvalidRequest, match="fork --compact"):
        await sidechat.converse(ME, "So?", session=over.session)
    assert speaker.seen == []


@behaviour("fork:compact")
async def test_a_child_forked_with_a_summary_begins_with_it_and_says_what_it_stands_for() -> None:
    speaker = Speaker(["So."], about=replace(MODEL, window=300))
    turns = [
        (f"What about part {n}?", f"We decided to keep part {n} at {n} days.") for n in range(30)
    ]
    sidechat = assemble_parts(
        Config(Path("unused"), "unused", "speaker"),
        MemoryStore(),
        {},
        provider=lambda name: Quoting() if name == "quoting" else speaker,
        clients={"shelf": Shelf({"r1": shelved(*turns)})},
    )
    report = await sidechat.fork(ME, parent="shelf:r1", compact=True, question="Which days?")
    assert (report.compacted, report.tokens < 300) == (30, True)
    messages = [plain(m.content) for m in speaker.seen[0].messages]
    assert messages[0].startswith("[Summary of the conversation so far")
    assert messages[1:] == [FRAMING, "Which days?"]
    assert {one.verdict for one in await sidechat.replay(ME)} == {"verified"}


@behaviour("fork:separation")
async def test_an_advisor_with_a_system_prompt_of_its_own_gives_the_cache_up_and_says_so() -> None:
    speaker = Speaker(["A."], about=MODEL)
    sidechat = assemble_parts(
        Config(Path("unused"), "unused", advisor_system="You only advise."),
        MemoryStore(),
        {},
        provider=lambda _: speaker,
        clients={},
    )
    native = await sidechat.native(ME, system="You act.", agent="speaker")
    await sidechat.converse(ME, "Hi?", session=native.id)
    report = await sidechat.fork(ME, parent=native.id, question="And?")
    assert report.head == "changed: system prompt"
    assert "prompt cache does not help" in report.notice
    assert [context.header.system.text for context in speaker.seen] == [
        "You act.",
        "You only advise.",
    ]


@behaviour("fork:long")
async def test_what_the_parents_provider_counted_is_believed_over_an_estimate() -> None:
    said: list[Chunk] = [Whole(Text("A.")), Spent(290, 5), Done()]
    speaker = Speaker([said], about=replace(MODEL, window=300))
    sidechat = workshop(agents={"speaker": speaker})
    native = await sidechat.native(ME, system="Be brief.", tools=False)
    await sidechat.converse(ME, "Hi?", session=native.id)
    report = await sidechat.fork(ME, parent=native.id)
    assert report.tokens < 10
    assert "(about 295 tokens) nearly fills the window of speaker-1 (300)" in report.notice


@behaviour("fork:long")
async def test_a_long_system_prompt_and_many_tools_count_as_well() -> None:
    speaker = Speaker(["A."], about=replace(MODEL, window=3000))
    sidechat = workshop(agents={"speaker": speaker})
    native = await sidechat.native(ME, system="word " * 2000)
    await sidechat.converse(ME, "Hi?", session=native.id)
    report = await sidechat.fork(ME, parent=native.id)
    assert "nearly fills the window" in report.notice
    with pytest.raises(InvalidRequest, match="takes 3000"):
        await sidechat.converse(ME, "word " * 800, session=report.session)

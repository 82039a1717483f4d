"""A conversation whose file is read on again and again by one process: its mirror is what a
whole reading would make of it, whatever happened in between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sidechat_mcp.clients.claude_code.client import ClaudeCode
from sidechat_mcp.core import handback
from sidechat_mcp.core.events import Draft
from sidechat_mcp.core.ids import SessionId
from sidechat_mcp.errors import StoreError
from sidechat_mcp.ports.store import Once, Receipt
from sidechat_mcp.sidechat.adopt import waiting
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.sidechat.service import Sidechat
from sidechat_mcp.stores.memory import MemoryStore
from tests.behaviours import behaviour
from tests.clients.scribe import Scribe
from tests.feature.workshop import workshop

ME = Caller()


class Full(MemoryStore):
    """Once, when it is told to, it cannot write down that a note was seen."""

    full = False

    async def append(
        self,
        session: SessionId,
        drafts: Sequence[Draft],
        *,
        expect: int | None,
        once: Once | None = None,
    ) -> Receipt:
        if self.full and once is not None and once.key.startswith("seen/"):
            self.full = False
            raise StoreError("The disk is full; nothing was written.", retryable=True)
        return await super().append(session, drafts, expect=expect, once=once)


def over(store: MemoryStore) -> Sidechat:
    return workshop(store, shelf=ClaudeCode({}))  # type: ignore[arg-type]


def talk(*said: str) -> Scribe:
    scribe = Scribe()
    for words in said:
        scribe.prompt(words)
        scribe.says(f"An answer to: {words}")
    return scribe


@behaviour("mirror:read-on")
async def test_a_note_is_seen_although_writing_that_down_failed_at_first(tmp_path: Path) -> None:
    store, path, scribe = Full(), tmp_path / "one.jsonl", talk("One?", "Two?")
    sidechat = over(store)
    path.write_bytes(scribe.text())
    child = await sidechat.fork(ME, file=path, question="And on the side?")
    note = await sidechat.merge(ME, session=child.session, note="Mind the tide.")
    (pending,) = await waiting(sidechat.parts, await store.row(child.parent))
    scribe.shows("hook_additional_context", handback.wrap(pending))
    for words in ("Three?", "Four?"):
        scribe.prompt(words)
        scribe.says(f"An answer to: {words}")
    path.write_bytes(scribe.text())
    mirror = await store.row(child.parent)
    store.full = True

    with pytest.raises(StoreError):
        await sidechat.fork(ME, file=path)
    assert [one.note for one in await waiting(sidechat.parts, mirror)] == [note.note]

    await sidechat.fork(ME, file=path)
    assert not await waiting(sidechat.parts, await store.row(child.parent))


@behaviour("mirror:read-on")
async def test_two_files_of_one_conversation_are_not_taken_for_each_other(tmp_path: Path) -> None:
    sidechat = over(MemoryStore())
    own, copy = tmp_path / "own.jsonl", tmp_path / "copy.jsonl"
    text = talk("One?", "Two?", "Three?").text()
    own.write_bytes(text)
    copy.write_bytes(text.replace(b"One?", b"Uno?"))

    first = await sidechat.fork(ME, file=own)
    other = await sidechat.fork(ME, file=copy)
    again = await sidechat.fork(ME, file=own)

    assert first.prefix_digest != other.prefix_digest
    assert again.prefix_digest == first.prefix_digest


@behaviour("mirror:read-on")
async def test_what_a_forgotten_mirror_had_is_read_again(tmp_path: Path) -> None:
    store, path = MemoryStore(), tmp_path / "one.jsonl"
    sidechat = over(store)
    text = talk("One?", "Two?", "Three?").text()
    path.write_bytes(text)
    await sidechat.fork(ME, file=path)
    path.write_bytes(text.replace(b"One?", b"Uno?"))
    changed = await over(store).fork(ME, file=path)
    assert changed.prefix_digest == (await sidechat.fork(ME, file=path)).prefix_digest
    for child in await store.children(changed.parent):
        await store.forget(child)
    await store.forget(changed.parent)

    again = await sidechat.fork(ME, file=path)

    assert again.prefix_digest == changed.prefix_digest

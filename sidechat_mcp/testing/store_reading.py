"""What a store promises of reading: whole lineages, exact bodies, lists that stay quick."""

from __future__ import annotations

import pytest

from sidechat_mcp.core.content import Media, Text, Thinking, ToolUse, Verbatim
from sidechat_mcp.core.events import (
    AssistantMessage,
    Body,
    ContextCompacted,
    ContextMessage,
    Draft,
    Event,
    Header,
    MirrorSeen,
    Part,
    RequestHeader,
    RequestSent,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    Unknown,
    Usage,
    UserMessage,
)
from sidechat_mcp.core.ids import EventId, SessionId, TurnId
from sidechat_mcp.errors import SessionNotFound
from sidechat_mcp.ports.store import LogStore, Query, Row
from sidechat_mcp.testing.samples import Now, child, draft, drafts, mirror, names, native
from sidechat_mcp.testing.store_writing import SESSIONS, A, B, C, family

T = TurnId("t")
ODD = "a\0b \u2028 \x85 é 🙂 \ud800"
BODIES: tuple[Body, ...] = (
    RequestHeader(Part("You are.", "d"), Part(digest="d"), "m", {"max_tokens": 1, "x": [1.5]}),
    TurnStart(T, "turn", 1),
    UserMessage(T, (Text(ODD), Media("image", "image/png", "d", 3, "QUJD", "a.png"))),
    AssistantMessage(
        T,
        (Thinking("hm", "anthropic", '{"s":1}'), ToolUse("c", "read", '{"b": 1, "a":2}')),
        "m",
        "tool_use",
        "weak",
    ),
    ToolCall(T, "c", "read", '{"b": 1, "a":2}'),
    ToolResult(T, "c", (Verbatim("openai", "{}"),), True, "OUTCOME_UNKNOWN"),
    RequestSent(T, "h", "p", "m", 3, {"body": "d"}),
    Usage(T, 10, None, 0, 3, {"id": "r"}),
    ContextMessage(T, (Text("note"),), {"kind": "plugin", "covers": [1, 2], "n": None}),
    ContextCompacted((Text("so far"),), 3),
    MirrorSeen("note", "line 3"),
    TurnEnd(T, "error", "why"),
    Unknown("later", {"kind": "later", "x": {"y": [ODD]}, "ignorable": True}, True),
)


class Lineages:
    async def test_every_kind_of_event_comes_back_as_it_was(self, store: LogStore) -> None:
        written = [Draft(EventId(f"{ODD}{n}"), n, body) for n, body in enumerate(BODIES)]
        await store.create(native(A), written)
        read = await store.read(A, verify=True)
        assert read == [Event(A, n, d.id, d.at, d.body) for n, d in enumerate(written)]

    async def test_a_child_reads_its_ancestors_up_to_where_it_left_them(
        self, store: LogStore
    ) -> None:
        await family(store)
        assert names(await store.read(A)) == ["a:0 1", "a:1 2", "a:2 3", "a:3 4", "a:4 a!"]
        assert names(await store.read(B)) == [
            *("a:0 1", "a:1 2", "a:2 3"),
            *("b:3 5", "b:4 6", "b:5 b!"),
        ]
        assert names(await store.read(C)) == ["a:0 1", "a:1 2", "c:2 7", "c:3 c!"]

    async def test_any_stretch_is_the_same_part_of_the_whole(self, store: LogStore) -> None:
        await family(store)
        for session in SESSIONS:
            whole = await store.read(session)
            for start in range(-1, 8):
                for stop in (None, *range(8)):
                    read = await store.read(session, start, stop, verify=True)
                    expected = [
                        e for e in whole if e.seq >= start and (stop is None or e.seq < stop)
                    ]
                    assert read == expected, (session, start, stop)

    async def test_a_long_line_of_forks_reads_as_one_log(self, store: LogStore) -> None:
        await store.create(native("s-0"), drafts("0"))
        for depth in range(1, 60):
            await store.create(child(f"s-{depth}", f"s-{depth - 1}", depth), drafts(f"{depth}"))
        whole = await store.read(SessionId("s-59"))
        assert names(whole) == [f"s-{depth}:{depth} {depth}" for depth in range(60)]
        assert await store.read(SessionId("s-59"), 58) == whole[58:]

    async def test_a_long_log_reads_whole_and_again(self, store: LogStore) -> None:
        await store.create(native(A), [draft(f"{n}") for n in range(1_000)])
        await store.create(child(B, A, 1_000), drafts("b"))
        whole = await store.read(B)
        assert [event.seq for event in whole] == list(range(1_001))
        assert await store.read(B) == whole
        assert await store.read(B, 990) == whole[990:]
        assert await store.read(B, verify=True) == whole

    async def test_a_child_costs_its_parent_nothing(self, store: LogStore) -> None:
        await store.create(native(A), drafts("1", "2"))
        before = await store.row(A), await store.read(A)
        await store.create(child(B, A, 1), drafts("x"))
        await store.append(B, drafts("y"), expect=None)
        assert (await store.row(A), await store.read(A)) == before

    async def test_children_are_the_next_generation(self, store: LogStore) -> None:
        await family(store)
        await store.create(child("d", A, 1), [])
        assert await store.children(A) == [B, "d"]
        assert await store.children(C) == []
        assert await store.children(SessionId("nobody")) == []


class Rows:
    async def test_a_row_shows_header_head_and_mark(self, store: LogStore, now: Now) -> None:
        header = Header(
            *(A, 5, "mirror", "ann \ud800", "client"),
            cwd="/home/\udcff/x",
            client="claude-code",
            client_ref="réf\0",
        )
        await store.create(header, drafts("1", "2"))
        assert await store.row(A) == Row(header, 2, now.value)
        query = Query(owner="ann \ud800", cwd="/home/\udcff/x", client_ref="réf\0")
        assert await store.rows(query) == [Row(header, 2, now.value)]

    async def test_marks_always_rise(self, store: LogStore, now: Now) -> None:
        await store.create(native(A), drafts("1"))
        await store.create(native(B), drafts("1"))
        now.pass_by(-1_000_000)
        await store.append(A, drafts("2"), expect=None)
        first = now.value + 1_000_000
        assert [(await store.row(s)).active - first for s in (A, B)] == [2, 1]
        now.pass_by(2_000_000)
        await store.append(B, drafts("2"), expect=None)
        assert (await store.row(B)).active == now.value

    async def test_lists_come_newest_write_first(self, store: LogStore, now: Now) -> None:
        for name in "abcd":
            await store.create(native(name), drafts("1"))
        await store.append(B, drafts("2"), expect=None)
        assert [row.header.id for row in await store.rows(Query())] == ["b", "d", "c", "a"]
        assert [row.header.id for row in await store.rows(Query(limit=2))] == ["b", "d"]
        assert await store.rows(Query(limit=0)) == []

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            (Query(), "gfedcba"),
            (Query(owner="ann"), "gfdcba"),
            (Query(owner="bob"), "e"),
            (Query(owner="nobody"), ""),
            (Query(origin="sidechat"), "edc"),
            (Query(origin="mirror", owner="ann"), "gf"),
            (Query(owner="ann", limit=3), "gfd"),
            (Query(parent=A), "edc"),
            (Query(parent=A, owner="ann"), "dc"),
            (Query(parent=A, origin="native"), ""),
            (Query(parent=SessionId("nobody")), ""),
            (Query(cwd="/w"), "a"),
            (Query(cwd="/w", owner="ann", origin="native"), "a"),
            (Query(cwd="/w", owner="bob"), ""),
            (Query(client="codex"), "g"),
            (Query(client="codex", owner="ann"), "g"),
            (Query(client_ref="r"), "gf"),
            (Query(client="claude-code", client_ref="r"), "f"),
            (Query(client="claude-code", client_ref="r", owner="bob"), ""),
        ],
        ids=lambda value: str(value) if isinstance(value, str) else "",
    )
    async def test_a_list_holds_what_was_asked_for(
        self, store: LogStore, query: Query, found: str
    ) -> None:
        await store.create(native(A, owner="ann", cwd="/w"), drafts("1"))
        await store.create(native(B, owner="ann", cwd="/v"), [])
        await store.create(child(C, A, 1, owner="ann"), [])
        await store.create(child("d", A, 1, owner="ann"), [])
        await store.create(child("e", A, 1, owner="bob"), [])
        await store.create(mirror("f", "claude-code", "r", owner="ann"), [])
        await store.create(mirror("g", "codex", "r", owner="ann"), [])
        assert [row.header.id for row in await store.rows(query)] == list(found)

    async def test_pages_join_without_a_gap(self, store: LogStore) -> None:
        for number in range(25):
            await store.create(native(f"s-{number}"), [])
        everything = await store.rows(Query(owner="local"))
        pages: list[Row] = []
        while page := await store.rows(
            Query(owner="local", before=pages[-1].active if pages else None, limit=10)
        ):
            pages += page
        assert pages == everything
        tenth = everything[10].active
        assert await store.rows(Query(since=tenth)) == everything[:11]
        assert await store.rows(Query(owner="local", before=tenth, since=tenth)) == []

    async def test_an_unknown_session_is_said_to_be_unknown(self, store: LogStore) -> None:
        for session in (SessionId("nobody"), SessionId("../\ud800")):
            for question in (store.row, store.read, store.forget):
                with pytest.raises(SessionNotFound):
                    await question(session)
            with pytest.raises(SessionNotFound):
                await store.append(session, drafts("1"), expect=None)

    async def test_what_is_no_session_id_cannot_be_held(self, store: LogStore) -> None:
        for session in (SessionId(""), SessionId("../x"), SessionId("a/b"), SessionId("\ud800")):
            with pytest.raises(SessionNotFound):
                async with store.hold(session):
                    pass
            with pytest.raises(SessionNotFound):
                await store.held(session)

"""opencode's database as it lies there: live, at rest, and which conversations it has."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sidechat_mcp.clients.opencode.database import Database, consult
from sidechat_mcp.errors import ParentNotFound, UnknownFormat
from tests.behaviours import behaviour
from tests.clients.cabin import Home, Talk, put


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def live(home: Home) -> Iterator[sqlite3.Connection]:
    """The client while it runs: a write-ahead log that nobody has taken over yet."""
    path = home.put(Talk("ses_old"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_autocheckpoint = 0")
        yield database


def files(home: Home) -> dict[str, tuple[bytes, int]]:
    found = sorted(home.files.rglob("*"))
    return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in found if one.is_file()}


def log(home: Home) -> tuple[bytes, int]:
    file = home.files / "opencode.db-wal"
    return file.read_bytes(), file.stat().st_mtime_ns


@behaviour("opencode:live-database")
async def test_the_newest_rows_of_a_running_client_are_seen_and_its_log_is_left_alone(
    home: Home, live: sqlite3.Connection
) -> None:
    talk = Talk("ses_new", title="Ferries")
    talk.turn("one", "An answer")
    put(live, talk)
    live.commit()
    before, main = log(home), (home.files / "opencode.db").read_bytes()
    found = await home.client().find("ses_new", None)
    assert found is not None
    assert len((await home.client().read(found)).drafts) == 6
    talk.turn("two", "Another answer")
    put(live, talk)
    assert len((await home.client().read(found)).drafts) == 6, "not committed yet"
    assert log(home) == before
    live.commit()
    assert len((await home.client().read(found)).drafts) == 11
    assert (home.files / "opencode.db").read_bytes() == main


@behaviour("opencode:live-database", "opencode:never-written")
async def test_a_database_at_rest_is_left_as_it_lies(home: Home) -> None:
    talk = Talk("ses_a")
    talk.turn("one", "An answer")
    home.put(talk)
    before = files(home)
    assert list(before) == [str(home.files / "opencode.db")]
    found = await home.client().find("ses_a", None)
    assert found is not None
    assert (await home.client().read(found)).drafts
    assert files(home) == before


@behaviour("opencode:live-database")
def test_what_stirs_while_a_database_at_rest_is_read_is_read_again(home: Home) -> None:
    path = home.put(Talk("ses_a"))
    looks = 0

    def look(database: Database) -> int:
        nonlocal looks
        looks += 1
        rows = len(list(database.working(None, 10)))
        if looks == 1:
            with closing(sqlite3.connect(path)) as client:
                put(client, Talk("ses_b"))
                client.commit()
        return rows

    assert (consult(path, look), looks) == (2, 2)


@behaviour("opencode:three-tables")
def test_no_other_table_can_be_read_and_nothing_can_be_written(home: Home) -> None:
    path = home.put(Talk("ses_a"))
    for statement in (
        "SELECT * FROM credential",
        "SELECT (SELECT value FROM credential) FROM session",
        "SELECT count(*) FROM credential",
        "DELETE FROM session",
        "PRAGMA wal_checkpoint",
        "ATTACH ':memory:' AS other",
    ):

        def ask(database: Database, statement: str = statement) -> None:
            list(database.connection.execute(statement))

        with pytest.raises((UnknownFormat, ParentNotFound)):
            consult(path, ask)


async def test_a_channels_database_or_a_named_one_is_found(home: Home) -> None:
    home.put(Talk("ses_a", updated=2), channel="-dev")
    home.put(Talk("ses_b", updated=1))
    newest = await home.client().newest(None, 5)
    assert [one.ref for one in newest] == ["ses_a", "ses_b"]
    named = home.client(OPENCODE_DB="opencode-dev.db")
    assert [one.ref for one in await named.newest(None, 5)] == ["ses_a"]
    moved = home.client(XDG_DATA_HOME=str(home.root / "home" / ".local" / "share"), HOME="/nowhere")
    assert await moved.find("ses_b", None) is not None


async def test_titles_are_the_persons_and_agents_or_put_away_ones_are_not_listed(
    home: Home,
) -> None:
    cwd = home.folder("work")
    named, unnamed = Talk("ses_a", cwd, "Ferry  times", updated=9), Talk("ses_b", cwd, updated=8)
    unnamed.says("<file>", synthetic=True)
    unnamed.says("When do the\nferries leave?")
    agent = Talk("ses_c", cwd, parent="ses_a", updated=10)
    path = home.put(named, unnamed, agent, Talk("ses_e", cwd, updated=12))
    with closing(sqlite3.connect(path)) as client:
        client.execute("UPDATE session SET time_archived = 5 WHERE id = 'ses_e'")
        client.commit()
    newest = await home.client().newest(cwd, 5)
    assert [(one.ref, one.title, one.active, one.cwd) for one in newest] == [
        ("ses_a", "Ferry times", 9, cwd),
        ("ses_b", "When do the ferries leave?", 8, cwd),
    ]
    assert list(await home.client().newest(home.folder("other"), 5)) == []


async def test_a_folder_is_found_by_another_spelling_of_its_path(home: Home) -> None:
    cwd = home.folder("work")
    home.put(Talk("ses_a", cwd))
    link = home.root / "link"
    link.symlink_to(cwd)
    for spelled in (str(link), cwd + "/"):
        assert [one.ref for one in await home.client().newest(spelled, 5)] == ["ses_a"]


@behaviour("opencode:older-tree")
async def test_the_tree_of_files_is_read_where_there_is_no_database(home: Home) -> None:
    cwd = home.folder("work")
    storage = home.files / "storage"
    written = {
        "session/p/ses_a.json": {"id": "ses_a", "directory": cwd, "title": "Ferries"},
        "session/p/ses_b.json": {"id": "ses_b", "directory": cwd, "parentID": "ses_a"},
        "message/ses_b/msg_9.json": {"role": "user"},
        "message/ses_a/msg_2.json": {"role": "user", "time": {"created": 1}},
        "message/ses_a/msg_1.json": {"role": "assistant", "time": {"created": 2, "completed": 3}},
        "part/msg_2/prt_1.json": {"type": "text", "text": "When?"},
        "part/msg_1/prt_2.json": {"type": "text", "text": "At two."},
        "part/msg_1/prt_1.json": {"type": "text", "text": "Hm."},
    }
    for name, found in written.items():
        file = storage / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    (storage / "message" / "ses_a" / "broken.json").write_text("{")
    client, before = home.client(), files(home)
    (only,) = await client.newest(cwd, 5)
    assert (only.ref, only.title, only.path) == ("ses_a", "Ferries", storage / "message" / "ses_a")
    read = await client.read(only)
    assert len(read.drafts) == 4
    assert read.skipped.unreadable == {"message not JSON": 1}
    assert await client.read_file(only.path) == read
    assert await client.find("ses_a", None) == only
    with pytest.raises(ParentNotFound, match="opencode:ses_a"):
        await client.read_file(storage / "message" / "ses_b")
    assert files(home) == before


async def test_a_file_with_several_conversations_asks_which(home: Home) -> None:
    one, other = Talk("ses_a", updated=2), Talk("ses_b", updated=1)
    one.turn("one", "An answer")
    path = home.put(one, other)
    with pytest.raises(ParentNotFound, match=r"opencode\.db#ID; the newest are ses_a, ses_b\."):
        await home.client().read_file(path)
    read = await home.client().read_file(Path(f"{path}#ses_a"))
    assert (read.ref, len(read.drafts)) == ("ses_a", 6)
    with pytest.raises(ParentNotFound, match="no conversation 'ses_x'"):
        await home.client().read_file(Path(f"{path}#ses_x"))


async def test_what_is_no_database_is_refused_in_a_sentence(tmp_path: Path, home: Home) -> None:
    for name, text in (("a.jsonl", b"{}\n"), ("empty", b""), ("cut.db", b"SQLite format 3\0")):
        file = tmp_path / name
        file.write_bytes(text)
        with pytest.raises(UnknownFormat, match="Upgrade sidechat-mcp"):
            await home.client().read_file(file)

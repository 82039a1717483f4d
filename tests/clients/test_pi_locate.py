"""Which session is calling, and where sessions lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sidechat_mcp.clients.pi.client import Pi, began
from sidechat_mcp.clients.pi.places import key
from sidechat_mcp.ports.client import Call
from tests.behaviours import behaviour
from tests.clients.pi_writing import START, Session, talk
from tests.clients.test_pi_contract import FORK, asking, call, put


class Home:
    def __init__(self, root: Path) -> None:
        self.path = root / "home"
        self.cwd = str(root / "work")
        Path(self.cwd).mkdir()

    def client(self, since: int | None = None, flat: Path | None = None) -> Pi:
        environ = {"PI_CODING_AGENT_SESSION_DIR": str(flat)} if flat is not None else {}
        return Pi({"HOME": str(self.path), **environ}, since=since, patience=0.1)

    def put(self, session: Session) -> Path:
        return put(self.path, session.cwd, session.ref, session.bytes)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def located(home: Home, asked: Call, since: int | None = None) -> str | None:
    found = await home.client(since).locate(asked)
    return found.ref if found is not None else None


@behaviour("pi:who-is-calling")
async def test_the_session_that_waits_for_the_call_is_the_one(home: Home) -> None:
    home.put(asking("one", home.cwd, question="why?"))
    home.put(talk("other", home.cwd))
    found = await home.client().locate(call(home.cwd, question="why?"))
    assert found is not None
    assert (found.ref, found.cwd, found.title) == ("one", home.cwd, "Where is the ferry?")


@behaviour("pi:who-is-calling")
async def test_of_two_that_wait_the_one_with_our_arguments_is_taken(home: Home) -> None:
    home.put(asking("one", home.cwd, question="why?"))
    home.put(asking("other", home.cwd, question="how?"))
    assert await located(home, call(home.cwd, question="how?")) == "other"


@behaviour("pi:who-is-calling")
async def test_where_two_fit_none_is_taken(home: Home) -> None:
    home.put(asking("one", home.cwd))
    home.put(asking("other", home.cwd))
    assert await located(home, call(home.cwd)) is None


@behaviour("pi:who-is-calling")
async def test_a_call_that_was_asked_for_before_we_began_is_not_ours(home: Home) -> None:
    home.put(asking("crashed", home.cwd))
    assert await located(home, call(home.cwd), START + 3_600_000) is None
    assert await located(home, call(home.cwd), START) == "crashed"


@behaviour("pi:who-is-calling")
async def test_a_script_that_names_our_tool_waits_for_it_too(home: Home) -> None:
    session = talk("script", home.cwd)
    session.working("Fork.", "codemode", code="await tools.mcp__sidechat__fork({question: 'x'})")
    home.put(session)
    assert await located(home, call(home.cwd, question="x")) == "script"
    assert await located(home, call(home.cwd, "merge")) is None


@behaviour("pi:who-is-calling")
async def test_a_call_beside_others_whose_results_are_there_is_found(home: Home) -> None:
    session = talk("one", home.cwd)
    session.user("Look and fork.")
    look, fork = session.call(path="a.txt"), session.call(FORK)
    session.answer("", "toolUse", look, fork)
    session.result(look)
    session.entry("custom", customType="memo", data={})
    home.put(session)
    assert await located(home, call(home.cwd)) == "one"
    session.result(fork)
    home.put(session)
    assert await located(home, call(home.cwd)) is None


@pytest.mark.parametrize("ending", ["aborted", "answered", "elsewhere", "other tool"])
async def test_nothing_else_is_taken_for_a_call(home: Home, ending: str) -> None:
    session = talk("one", home.cwd if ending != "elsewhere" else home.cwd + "-too")
    session.user("Fork.")
    fork = session.call("mcp__git__branch" if ending == "other tool" else FORK)
    session.answer("", "aborted" if ending == "aborted" else "toolUse", fork)
    if ending == "answered":
        session.user("Never mind.")
    path = home.put(session)
    if ending == "elsewhere":  # Two folders can share the name of the folder of their sessions.
        here = home.path / ".pi" / "agent" / "sessions" / key(home.cwd) / path.name
        here.parent.mkdir()
        path.rename(here)
    assert await located(home, call(home.cwd)) is None


@behaviour("pi:who-is-calling")
async def test_only_a_pi_calls_like_that(home: Home) -> None:
    home.put(asking("one", home.cwd))
    assert await located(home, Call({}, {}, [], home.cwd, "fork")) is None


@behaviour("pi:who-is-calling")
async def test_a_command_of_its_model_is_told_which_session_it_is(home: Home) -> None:
    path = home.put(talk("one", home.cwd))
    environ = {"AI_AGENT": "pi", "PI_SESSION_ID": "one", "PI_SESSION_FILE": str(path)}
    assert await located(home, Call({}, environ, [], "/")) == "one"
    assert await located(home, Call({}, environ | {"PI_SESSION_ID": "x"}, [], "/")) is None
    assert await located(home, Call({}, environ, [], home.cwd, "fork")) is None


@pytest.mark.parametrize("way", ["environment", "settings", "project"])
async def test_a_folder_for_all_sessions_is_looked_into(home: Home, way: str) -> None:
    flat = home.path / "flat"
    flat.mkdir(parents=True)
    for ref, cwd in (("one", home.cwd), ("other", "/elsewhere")):
        (flat / f"2026_{ref}.jsonl").write_bytes(talk(ref, cwd).bytes)
    folder = home.path / ".pi" / "agent" if way == "settings" else Path(home.cwd) / ".pi"
    if way != "environment":
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps({"sessionDir": str(flat)}))
    client = home.client(flat=flat if way == "environment" else None)
    assert [one.ref for one in await client.newest(home.cwd, 9)] == ["one"]
    found = await client.find("one", home.cwd)
    assert found is not None


async def test_a_name_that_was_given_is_the_title(home: Home) -> None:
    session = talk("one", home.cwd)
    session.entry("session_info", name="Ferries")
    home.put(session)
    assert [one.title for one in await home.client().newest(home.cwd, 1)] == ["Ferries"]


async def test_a_session_in_which_nobody_spoke_is_no_conversation(home: Home) -> None:
    home.put(Session("empty", home.cwd))
    assert list(await home.client().newest(home.cwd, 9)) == []


@pytest.mark.parametrize(
    ("cwd", "name"), [("/srv/a:b", "--srv-a-b--"), ("C:\\work\\a", "--C--work-a--")]
)
def test_a_folder_of_sessions_is_named_as_pi_names_it(cwd: str, name: str) -> None:
    assert key(cwd) == name


def test_when_we_began_is_known_where_the_system_tells() -> None:
    since = began()
    assert since is None or since > 1_700_000_000_000

"""What doctor says of this installation, over a log on disk."""

from __future__ import annotations

import io
import json
import re
import shutil
import stat
import sys
from pathlib import Path

import pytest

from sidechat_mcp.surfaces.cli.entry import run
from sidechat_mcp.surfaces.cli.terminal import Terminal
from tests.behaviours import behaviour
from tests.cli.acting import command
from tests.cli.persons import REF, person


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """This process, standing where the person stands."""
    environ = person(tmp_path)
    monkeypatch.chdir(environ["PWD"])
    for name in ("HOME", "PATH", "CLAUDE_CONFIG_DIR", "SIDECHAT_HOME"):
        monkeypatch.setenv(name, environ[name])
    return environ


def install(environ: dict[str, str], client: str) -> None:
    program = Path(environ["PATH"]) / client
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)


@behaviour("cli:doctor")
def test_doctor_says_where_things_are_and_what_answers_and_why(here: dict[str, str]) -> None:
    done = command("doctor", "--json")
    found = json.loads(done.out)
    assert (done.status, done.err) == (0, "")
    assert found["home"] == here["SIDECHAT_HOME"]
    assert found["store"] == f"{here['SIDECHAT_HOME']}/log.db"
    assert tuple(map(int, found["sqlite"].split("."))) >= (3, 51, 3)
    assert found["agent"]["name"] == "quoting"
    assert found["agent"]["why"] == (
        f"the agent is `auto`, and claude-code cannot answer here for {REF}"
    )
    assert found["agent"]["network"] == "nowhere: nothing leaves this machine"
    assert all(found["agent"][name] for name in ("rights", "pays"))
    assert found["clients"]["claude-code"] == (
        "conversations are read; no program on the PATH that could answer"
    )
    assert found["conversation"] == f"claude-code:{REF}"
    assert (found["verdict"], found["troubles"]) == ("nothing to verify", [])

    shown = command("doctor").out
    for name in ("home", "log", "sqlite", "answers", "rights", "pays", "why", "newest", "checked"):
        assert re.search(rf"^  {name} +\S", shown, re.MULTILINE), name
    assert "To have a model answer: SIDECHAT_AGENT=anthropic:MODEL, openai:MODEL," in shown
    assert shown.endswith("  all well\n")


@behaviour("cli:doctor-agent")
def test_where_the_client_can_answer_its_cost_and_its_network_are_said(
    here: dict[str, str],
) -> None:
    install(here, "claude")
    found = json.loads(command("doctor", "--json").out)
    agent = found["agent"]
    assert (agent["name"], agent["pays"], agent["network"]) == (
        "claude-code",
        "your Claude Code subscription or key",
        "to the provider that claude-code uses",
    )
    assert agent["why"] == (
        "the agent is `auto`, and claude-code can answer for its own conversation here"
    )
    assert found["clients"]["claude-code"] == "can answer for its own conversations"


@behaviour("cli:doctor-agent")
@pytest.mark.parametrize(
    ("setting", "programs"),
    [("auto", ()), ("auto", ("claude",)), ("client", ("claude",)), ("quoting", ("claude",))],
)
def test_what_doctor_says_is_what_a_fork_gets(
    here: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    programs: tuple[str, ...],
) -> None:
    monkeypatch.setenv("SIDECHAT_AGENT", setting)
    for program in programs:
        install(here, program)
    said = json.loads(command("doctor", "--json").out)["agent"]
    out = io.StringIO()
    status = run(["fork", f"claude-code:{REF}", "--json"], terminal=Terminal(out, out, {}))
    got = json.loads(out.getvalue())["agent"]
    assert status == 0
    assert got == {name: said[name] for name in got}


@behaviour("cli:doctor-window")
def test_how_much_a_model_takes_is_said_or_said_to_be_unknown(
    here: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert json.loads(command("doctor", "--json").out)["agent"]["window"] is None
    assert not re.search(r"^  window ", command("doctor").out, re.MULTILINE), "what quotes has none"
    monkeypatch.setenv("SIDECHAT_AGENT", "openai-chat:http://127.0.0.1:1#m")
    assert "  window    unknown: nobody says it; `window` in config.toml sets it\n" in (
        command("doctor").out
    )
    home = Path(here["SIDECHAT_HOME"])
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.toml").write_text("window = 8192\n")
    assert "  window    8,192 tokens\n" in command("doctor").out
    assert json.loads(command("doctor", "--json").out)["agent"]["window"] == 8192


@behaviour("cli:doctor-key")
def test_where_the_key_is_is_said_and_that_one_is_missing(
    here: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIDECHAT_AGENT", "anthropic:m")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted")
    done = command("doctor")
    assert "  key       ANTHROPIC_API_KEY, from the environment\n" in done.out
    assert (done.status, "sk-planted" in done.out + done.err) == (0, False)

    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setitem(sys.modules, "keyring", None)
    done = command("doctor", "--json")
    found = json.loads(done.out)
    assert (done.status, found["agent"]["key"]) == (4, None)
    (trouble,) = found["troubles"]
    assert (trouble["code"], "Set ANTHROPIC_API_KEY" in trouble["next"]) == (
        "bad_credentials",
        True,
    )


@behaviour("cli:private")
def test_a_home_that_others_may_look_into_is_closed_or_said(here: dict[str, str]) -> None:
    home = Path(here["SIDECHAT_HOME"])
    home.mkdir()
    home.chmod(0o777)
    assert "all well" in command("doctor").out
    assert stat.S_IMODE(home.stat().st_mode) == 0o700

    (home / "novel.txt").touch()
    home.chmod(0o755)
    done = command("doctor", "--json")
    [trouble] = json.loads(done.out)["troubles"]
    assert (done.status, trouble["message"], trouble["next"]) == (
        2,
        f"Others may look into the home {home} (mode 0755).",
        f"Close it: chmod 700 {home}",
    )


@behaviour("cli:doctor")
def test_doctor_tells_every_trouble_with_its_exit_code(
    here: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(here["SIDECHAT_HOME"])
    home.mkdir(mode=0o700)
    (home / "log.db").write_bytes(b"this is no database, and never was one" * 200)
    done = command("doctor")
    assert done.status == 4
    assert "all well" not in done.out
    assert re.search(r"^  trouble +\S", done.out, re.MULTILINE)

    shutil.rmtree(home)
    monkeypatch.setenv("SIDECHAT_AGENT", "oracle")
    done = command("doctor", "--json")
    [trouble] = json.loads(done.out)["troubles"]
    assert (done.status, trouble["code"]) == (2, "invalid_request")

    monkeypatch.setenv("SIDECHAT_AGENT", "client")
    done = command("doctor", "--json")
    [trouble] = json.loads(done.out)["troubles"]
    assert (done.status, trouble["code"]) == (2, "invalid_request")
    assert trouble["message"] == (
        f"Nothing would answer here: the agent is `client`, and claude-code cannot answer here for"
        f" {REF}."
    )

"""Settings from the environment and the file, and what is chosen by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidechat_mcp.bootstrap import Providers, open_sidechat
from sidechat_mcp.config import Config, load
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.sidechat.reports import Caller
from sidechat_mcp.tools.mcp_servers import Server
from tests.behaviours import behaviour


def written(home: Path, text: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return {"SIDECHAT_HOME": str(home)}


@behaviour("settings:order")
def test_the_environment_outranks_the_file_and_the_file_the_defaults(tmp_path: Path) -> None:
    environ = written(tmp_path, 'agent = "quoting"\nnote_cap = 300\nwindow = 8192\n')
    assert load({"SIDECHAT_HOME": str(tmp_path / "none")}) == Config(
        tmp_path / "none", str(tmp_path / "none" / "log.db")
    )
    assert load({**environ, "SIDECHAT_NOTE_CAP": "500"}) == Config(
        tmp_path, str(tmp_path / "log.db"), "quoting", 500, window=8192
    )


def test_servers_are_read_with_a_command_or_an_address(tmp_path: Path) -> None:
    environ = written(
        tmp_path,
        '[servers.files]\ncommand = "files"\nargs = ["--here"]\n'
        '[servers.web]\nurl = "http://127.0.0.1:9/mcp"\n',
    )
    named = {one.name: one for one in load(environ).servers}
    assert (named["files"].command, named["files"].args) == ("files", ("--here",))
    assert named["web"].url == "http://127.0.0.1:9/mcp"
    assert isinstance(named["web"], Server)


@behaviour("settings:refused")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("agent =", "cannot be read"),
        ('colour = "red"', "colour"),
        ("note_cap = 0", "note cap"),
        ("note_cap = 10001", "note cap"),
        ('window = "many"', "window"),
        ("[servers.x]\nargs = []", "servers.x"),
        ('[servers.x]\ncommand = "a"\nurl = "b"', "servers.x"),
        ('[servers.x]\ncommand = "a"\nport = 3', "port"),
        ("servers = 3", "servers"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(InvalidRequest, match=named):
        load(written(tmp_path, text))


@behaviour("settings:agent")
@pytest.mark.parametrize("agent", ["nobody", "anthropic:", "openai-chat:somewhere", "local:/none"])
async def test_an_agent_that_there_is_not_is_refused_when_the_feature_opens(
    tmp_path: Path, agent: str
) -> None:
    with pytest.raises(InvalidRequest):
        async with open_sidechat(Config(tmp_path, str(tmp_path / "log.db"), agent), environ={}):
            pass


@behaviour("settings:agent")
def test_each_agent_is_made_once_and_says_what_it_is() -> None:
    giving = Providers({}, {})
    assert giving("quoting") is giving("quoting")
    about = giving("anthropic:some-model").about
    assert (about.name, about.model, about.head) == ("anthropic", "some-model", "same")


async def test_a_store_that_is_not_supported_yet_is_refused_without_its_address(
    tmp_path: Path,
) -> None:
    store = "postgresql://me:secret@db/log"
    with pytest.raises(InvalidRequest) as refused:
        async with open_sidechat(Config(tmp_path, store), environ={}):
            pass
    assert "secret" not in str(refused.value)


async def test_the_configured_window_is_what_a_report_warns_by(tmp_path: Path) -> None:
    agent = "openai-chat:http://127.0.0.1:1#m"
    config = Config(tmp_path, str(tmp_path / "log.db"), agent, window=5)
    async with open_sidechat(config, environ={"HOME": str(tmp_path)}) as sidechat:
        native = await sidechat.native(Caller())
        assert await sidechat.parts.window("quoting") is None, "what quotes takes any"
        with pytest.raises(InvalidRequest, match="takes 5"):
            await sidechat.converse(
                Caller(), "A question of more than five tokens, surely.", session=native.id
            )

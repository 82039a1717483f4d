"""Codex keeps the contract of clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidechat_mcp.testing.client_contract import ClientContract, House
from tests.clients.rollouts import Home, call, line, long_talk, talk


@pytest.fixture
def house(tmp_path: Path) -> House:
    home = Home(tmp_path)
    cwd, elsewhere = home.folder("work/ferryline"), home.folder("work/other")
    for ref in ("a1-oldest", "a2-middle", "a3-newest"):
        rollout = talk(ref, cwd, f"First words of {ref}", "And some more")
        rollout.began()
        rollout.asked("Fork this, please.")
        rollout.calls(("mcp__sidechat::fork", {}), counted=False)
        home.put(ref, rollout.text())
    lines = long_talk().text().splitlines(keepends=True)
    return House(
        client=home.client(),
        home=home.root,
        cwd=cwd,
        elsewhere=elsewhere,
        refs=["a3-newest", "a2-middle", "a1-oldest"],
        calling=lambda ref: call(elsewhere, ref),
        stray=call(cwd, "a9-ephemeral"),
        moments=[b"".join(lines[:n]) for n in range(1, len(lines) + 1)],
        torn=b"".join(lines[:24]) + lines[24][: len(lines[24]) // 2],
        alien=b"".join(line({"type": f"k{n}", "payload": {}}) for n in range(9)),
    )


class TestCodex(ClientContract):
    pass

"""Claude Code keeps the contract of clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidechat_mcp.testing.client_contract import ClientContract, House
from tests.clients.houses import FIXTURES, Home, call, calling, talk
from tests.clients.scribe import line


@pytest.fixture
def house(tmp_path: Path) -> House:
    home = Home(tmp_path)
    cwd, elsewhere = home.folder("work/ferryline"), home.folder("work/other")
    calls: dict[str, str] = {}
    for ref in ("a1-oldest", "a2-middle", "a3-newest"):
        scribe = talk(ref, cwd, f"First words of {ref}", "And some more")
        calls[ref] = calling(scribe)
        home.put(cwd, ref, scribe.text())
    lines = (FIXTURES / "talk.jsonl").read_bytes().splitlines(keepends=True)
    return House(
        client=home.client(),
        home=home.root,
        cwd=cwd,
        elsewhere=elsewhere,
        refs=["a3-newest", "a2-middle", "a1-oldest"],
        calling=lambda ref: call(cwd, calls[ref]),
        stray=call(cwd, "toolu_of_somebody_else"),
        moments=[b"".join(lines[:n]) for n in range(1, len(lines) + 1)],
        torn=b"".join(lines[:30]) + lines[30][: len(lines[30]) // 2],
        alien=b"".join(line({"type": f"k{n}", "sessionId": "s"}) for n in range(9)),
    )


class TestClaudeCode(ClientContract):
    pass

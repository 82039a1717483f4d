"""Judges a run of `claude_notes.sh` from what the stub model and the client recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from check_claude_code import CLOSED, asked, requests, shown
from rows import beside, tell


def main(out: Path) -> int:
    sent = requests(out)
    first = shown(asked(sent, "First prompt after the merge."))
    second = shown(asked(sent, "Second prompt after the merge."))
    quiet = json.dumps(asked(sent, "Second prompt after the merge.")["body"]["messages"][-1])
    merged = json.loads((out / "merged.json").read_text())
    again = json.loads((out / "again.json").read_text())
    replayed = json.loads((out / "replay.json").read_text())
    rows = {
        "merged from the terminal: pending": merged["delivery"] == "pending",
        "the next prompt's request has the note, once": first.count(CLOSED) == 1,
        "and stands beside that prompt": first.index("We ship ledgerd") < first.index(CLOSED),
        "the request after that has it once, too": second.count("<sidechat-note id=") == 1,
        "the client's own transcript shows it: delivered": again["delivery"] == "delivered",
        "with nothing to bring the hook says nothing": "UserPromptSubmit" not in quiet,
        "after undo the client has no server of ours": "sidechat"
        not in (out / "after-undo").read_text().split("[rc")[0].replace("sidechat_claude", ""),
        "replay of every session: verified": replayed["verdict"] == "verified",
    }
    return tell("claude-code", "setup, prompt hook", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))

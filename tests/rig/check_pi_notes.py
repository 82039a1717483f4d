"""Judges a run of `pi_notes.sh` from what the stub model and pi's own files recorded."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from check_pi import FRAMED, read, requests, talk
from rows import beside, tell

OPENED = "<sidechat-note id="


def main(out: Path) -> int:
    sent = [one for one in requests(out) if FRAMED not in json.dumps(one)]
    first, second = (
        talk(next(one for one in sent if words in json.dumps(one)))
        for words in ("FIRST prompt", "SECOND prompt")
    )
    once = [place for place, one in enumerate(first) if OPENED in one]
    merged, again = read(out, "merge.json"), read(out, "merged_again.json")
    rows = {
        "setup: pi has the server, its tools declared": read(out, "mcp.json")["mcpServers"][
            "sidechat"
        ]["exposure"]
        == "direct",
        "setup: pi has the extension": "sidechat.ts" in (out / "settings.json").read_text(),
        "merged from the terminal, the note is not seen yet": merged["delivery"] != "delivered",
        "the note is in the next request, once, with its prompt": once == [len(first) - 1]
        and "FIRST prompt" in first[-2],
        "and in the one after that it still stands there, once": second[: len(first)] == first
        and not any(OPENED in one for one in second[len(first) :]),
        "pi's own session shows the note: delivered": again["delivery"] == "delivered",
        "nothing was left running": not (out / "orphans").read_text().strip(),
        "undo: pi has neither any more": "sidechat" not in (out / "mcp-after.json").read_text()
        and "sidechat" not in (out / "settings-after.json").read_text(),
    }
    return tell("pi", "setup, extension", beside(rows))


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))

"""The process of a local model: llama.cpp's own server on a port of this machine.

It lives as long as its input is open, so whoever started it takes it along, however that one
ends. Input: one JSON line (`Order`). Output: one JSON line, an address or what went wrong;
nothing else is ever written there. What the model last read is kept across restarts."""

from __future__ import annotations

import json
import os
import sys
import threading
import urllib.request
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

CONTEXT = 32_768
"""Tokens of the window at most; a model trained on fewer has fewer."""
CACHE_MIB = 512
"""Memory for conversations that another one displaced; llama.cpp's own 8 GiB is too much."""
SAVING = 1.5
"""Seconds that keeping what was read may take at the end."""


def main() -> None:
    os.umask(0o077)
    out = os.dup(1)
    os.dup2(2, 1)  # Whatever a library prints, it is not our answer.
    order = json.loads(sys.stdin.readline())
    gone = threading.Event()
    up = threading.Event()
    threading.Thread(target=_watch, args=(gone, up), daemon=True).start()
    try:
        server = _serve(order)
        address = str(server.listening_address)
    except Exception as error:
        _say(out, {"error": f"{type(error).__name__}: {error}"[:500]})
        os._exit(1)
    up.set()
    slot = Path(order["folder"]) / order["slot"]
    if slot.is_file():
        with suppress(OSError):
            _slot(address, order["key"], "restore", slot.name, 30)
    _say(out, {"address": address})
    gone.wait()
    # Another process may be doing the same; whole files replace each other.
    own = slot.with_name(f"{slot.name}.{os.getpid()}")
    with suppress(OSError):
        _slot(address, order["key"], "save", own.name, SAVING)
        own.replace(slot)
    # The server's own threads would keep the process alive.
    os._exit(0)


def _watch(gone: threading.Event, up: threading.Event) -> None:
    sys.stdin.buffer.read()
    if not up.is_set():
        os._exit(0)  # Nobody waits for the model that is still being loaded.
    gone.set()


def _serve(order: dict[str, Any]) -> Any:
    """The server, started in this process; it stops when it is forgotten.

    One slot, never pinned: with several, a child that is asked while its parent is answered finds
    nothing of what they share."""
    llama: Any = import_module("xllamacpp")
    found = llama.CommonParams()
    found.model.path = order["model"]
    found.n_ctx = CONTEXT
    found.n_parallel = 1
    found.cache_prompt = True
    found.cache_ram_mib = CACHE_MIB
    found.slot_save_path = order["folder"] + os.sep
    found.api_keys = [order["key"]]
    found.ui = False
    found.offline = True
    found.verbosity = -1
    return llama.Server(found)


def _slot(address: str, key: str, action: str, name: str, seconds: float) -> None:
    """Save or restore what the one slot has read. Raises: OSError."""
    request = urllib.request.Request(
        f"{address}/slots/0?action={action}",
        json.dumps({"filename": name}).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {key}"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=seconds) as answer:
        answer.read()


def _say(out: int, what: dict[str, str]) -> None:
    os.write(out, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    main()

"""Our server over HTTP in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.mcp.processes import PROGRAM, environment


@dataclass
class Web:
    process: Process
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving_web(
    home: Path, *command: str, secrets: Mapping[str, str] | None = None, **more: str
) -> AsyncGenerator[Web]:
    """With `secrets`, by principal, a bearer token is asked for."""
    if secrets:
        more["SIDECHAT_TEST_SECRETS"] = json.dumps(secrets)
    process = await anyio.open_process(
        command or [*PROGRAM, "http", "0"],
        env=environment(home, **more),
        cwd=home,
        stderr=subprocess.PIPE,
    )
    async with process:
        try:
            assert process.stderr is not None
            with anyio.fail_after(20):
                told = await BufferedByteReceiveStream(process.stderr).receive_until(b"\n", 4096)
            found = re.search(rb"http://127\.0\.0\.1:([0-9]+)/mcp", told)
            assert found is not None, told
            yield Web(process, int(found[1]))
        finally:
            if process.returncode is None:
                process.kill()

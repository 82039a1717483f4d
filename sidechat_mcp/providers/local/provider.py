"""A model on this machine, out of a GGUF file that the person names."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import anyio.to_thread

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.errors import InvalidRequest
from sidechat_mcp.ports.provider import About, Chunk
from sidechat_mcp.providers.exchange.endpoint import Endpoint, endpoint
from sidechat_mcp.providers.exchange.keys import Secret
from sidechat_mcp.providers.exchange.pace import Turnstiles
from sidechat_mcp.providers.exchange.speech import Access
from sidechat_mcp.providers.exchange.wired import Wired
from sidechat_mcp.providers.local import gguf
from sidechat_mcp.providers.local.engine import Engine
from sidechat_mcp.providers.local.serving import CONTEXT
from sidechat_mcp.providers.openai_chat.wire import wire

WHO = "The local model"
SETTINGS = {"cache_prompt": True, "max_tokens": 2048}
"""Where the session's own settings do not say; a small model may never stop by itself."""


@dataclass(slots=True)
class Local:
    """Speaks to `engine` as to any other server of Chat Completions."""

    engine: Engine
    wired: Wired

    @property
    def about(self) -> About:
        return self.wired.about

    def wire(self, context: Context) -> Mapping[str, str]:
        return self.wired.wire(context)

    async def window(self) -> int | None:
        """What the model's file says, at most what its server is started with."""
        trained = await anyio.to_thread.run_sync(gguf.window, self.engine.model)
        return min(trained, CONTEXT) if trained is not None else None

    @asynccontextmanager
    async def stream(self, context: Context) -> AsyncGenerator[AsyncIterator[Chunk]]:
        address = await anyio.to_thread.run_sync(self.engine.address, abandon_on_cancel=True)
        self.wired.access = replace(self.wired.access, endpoint=endpoint(address))
        async with self.wired.stream(context) as chunks:
            yield chunks

    def close(self) -> None:
        self.engine.close()


def local(path: str, environ: Mapping[str, str], rights: str, turnstiles: Turnstiles) -> Local:
    """The model in the file `path`; it is loaded when it is first asked.

    Raises: InvalidRequest, when there is no such file, or nothing to load it with."""
    model = Path(path).expanduser().absolute()
    if not _is_model(model):
        raise InvalidRequest(
            f"{model} is no GGUF file.", then="Give local: and the path of a model in GGUF format."
        )
    if find_spec("xllamacpp") is None:
        raise InvalidRequest(
            "A local model needs the package xllamacpp.",
            then="Install it: pip install 'sidechat-mcp[local]'.",
        )
    home = Path(environ.get("SIDECHAT_HOME") or "~/.sidechat").expanduser().absolute()
    engine = Engine(model, home / "local", environ)
    about = About("local", model.stem, "nobody: the model runs on this machine", rights)
    access = Access(WHO, Endpoint("http://127.0.0.1", "", True), lambda: Secret(engine.key))
    speaking = wire(WHO, model.stem, SETTINGS)
    return Local(
        engine, Wired(about, replace(speaking, path="/v1" + speaking.path), access, turnstiles)
    )


def _is_model(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False

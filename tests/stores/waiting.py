"""Making writers wait, so that what happens at the same moment is no chance."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from anyio.lowlevel import checkpoint

from sidechat_mcp.stores.sqlite.locks import LockFile


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """The database in `folder` is another process's for as long as the block lasts."""
    lock = LockFile(folder / "lock")
    try:
        with lock.held():
            yield
    finally:
        lock.close()


@asynccontextmanager
async def in_one_batch(folder: Path) -> AsyncGenerator[None]:
    """Writes that tasks begin within the block wait, and are carried out together after it."""
    with locked(folder):
        yield
        await settle()


async def settle() -> None:
    """Let the other tasks run into what they wait for."""
    for _ in range(20):
        await checkpoint()

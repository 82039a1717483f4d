"""`core` computes: it neither waits, nor asks the time, nor guesses, nor touches the world."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sidechat_mcp.core
from tests.behaviours import behaviour

FILES = sorted(Path(sidechat_mcp.core.__path__[0]).glob("*.py"))
ALLOWED = {
    "__future__", "base64", "collections", "dataclasses", "functools", "hashlib", "html",
    "itertools", "json", "math", "pydantic", "pydantic_core", "re", "sidechat_mcp", "typing",
}  # fmt: skip
WORLD = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
WAITS = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)


def broken(tree: ast.AST) -> Iterator[str]:
    """What of `tree` is not pure, in words."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (f"imports {name.name}" for name in names if outside(name.name))
            case ast.ImportFrom(module=str(module)) if outside(module):
                yield f"imports {module}"
            case ast.Call(func=ast.Name(id=name)) if name in WORLD:
                yield f"calls {name}"
            case ast.Global():
                yield "changes a global"
            case _ if isinstance(node, WAITS):
                yield "waits"
            case _:
                pass


def outside(module: str) -> bool:
    ours = module.startswith(("sidechat_mcp.core", "sidechat_mcp.errors"))
    return not ours if module.startswith("sidechat_mcp") else module.split(".")[0] not in ALLOWED


@behaviour("core:pure")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_core_computes_and_nothing_else(file: Path) -> None:
    assert list(broken(ast.parse(file.read_text()))) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import time", "imports time"),
        ("from random import random", "imports random"),
        ("import os.path", "imports os.path"),
        ("import anyio", "imports anyio"),
        ("from datetime import datetime", "imports datetime"),
        ("from sidechat_mcp.ports import store", "imports sidechat_mcp.ports"),
        ("async def f(): ...", "waits"),
        ("open('x')", "calls open"),
    ],
)
def test_what_is_not_pure_is_found(code: str, found: str) -> None:
    assert list(broken(ast.parse(code))) == [found]

"""What import-linter cannot see of the rooms. It holds the layers itself (`make rooms`)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import sidechat_mcp
from tests.architecture import PACKAGE, TOP, modules
from tests.behaviours import behaviour

EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "manager", "base", "data"}
CLOCKS = {"datetime", "random", "secrets", "time", "uuid"}
OUTSIDE = {"io", "os", "pathlib", "socket", "subprocess", "tempfile"}
IMPURE = CLOCKS | OUTSIDE | {"anyio", "asyncio", "threading"}
# Where things are chosen, and where the heavy SDK is needed by few.
LAZY = (
    "surfaces/",
    "bootstrap.py",
    "__main__.py",
    "__init__.py",
    "tools/mcp_servers.py",
    "clients/opencode/client.py",
)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


@behaviour("house:core-pure")
def test_core_has_no_await_no_clock_no_randomness_and_no_io() -> None:
    found: list[str] = []
    for path in sorted((PACKAGE / "core").rglob("*.py")):
        tree = parsed(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
                found.append(f"{path.name}:{node.lineno} awaits")
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"open", "print", "input"}:
                found.append(f"{path.name}:{node.lineno} does I/O")
        found += [
            f"{path.name}:{line} imports {name}"
            for line, name in imported(tree)
            if name.partition(".")[0] in IMPURE
        ]
    assert found == []


@behaviour("house:protocol-room")
def test_the_protocols_sdk_is_imported_under_its_own_surface_only() -> None:
    allowed = ("surfaces/mcp/", "tools/mcp_servers.py")
    found = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in modules()
        if not path.relative_to(PACKAGE).as_posix().startswith(allowed)
        for line, name in imported(parsed(path))
        if name.partition(".")[0] in {"mcp", "mcp_types"}
    ]
    assert found == []


@behaviour("house:imports-at-top")
def test_imports_stand_at_the_top_but_for_lazy_ones_where_things_are_chosen() -> None:
    found: list[str] = []
    for path in modules():
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(LAZY):
            continue
        for function in ast.walk(parsed(path)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                found += [f"{name}:{line} imports {what}" for line, what in imported(function)]
    assert found == []


@behaviour("house:words")
def test_no_module_and_no_class_is_named_by_an_empty_word() -> None:
    found: list[str] = []
    for path in modules():
        names = [path.stem, path.parent.name]
        names += [node.name for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]
        for name in names:
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
            if EMPTY_WORDS.intersection(words):
                found.append(f"{path.relative_to(PACKAGE)}: {name}")
    assert found == []


@behaviour("house:public-face")
def test_the_public_face_is_exactly_what_all_says() -> None:
    face = list(sidechat_mcp.__all__)
    assert face == sorted(face), "kept in order"
    assert [name for name in face if not hasattr(sidechat_mcp, name)] == []
    tree = parsed(PACKAGE / "__init__.py")
    defined = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    }
    assert defined <= set(face), "a public name that __all__ does not say"


@behaviour("house:light")
def test_importing_the_package_loads_nothing_heavy() -> None:
    asked = "import sys, sidechat_mcp; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", asked], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"mcp", "mcp_types", "anyio", "pydantic", "apsw", "starlette"}.isdisjoint(loaded)

"""Documents are held to what there is: verbs, commands, pages, words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from sidechat_mcp.core import events
from tests.architecture import TOP, tracked
from tests.behaviours import behaviour

PAGES = [path for path in tracked() if path.suffix == ".md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def spoken(text: str) -> Iterator[str]:
    """What a page tells people to type: `code` in its lines, and consoles' lines."""
    for language, block in FENCE.findall(text):
        if language == "console":
            yield from (line[2:] for line in block.splitlines() if line.startswith("$ "))
    yield from re.findall(r"`([^`\n]+)`", FENCE.sub("", text))


@behaviour("house:docs")
def test_every_make_verb_that_a_page_names_exists() -> None:
    verbs = set(re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text("utf-8"), re.M))
    named = {
        (page.name, verb)
        for page in PAGES
        for said in spoken(page.read_text("utf-8"))
        for verb in re.findall(r"^make ([a-z]+)", said)
    }
    assert {(page, verb) for page, verb in named if verb not in verbs} == set()
    assert {verb for page, verb in named if page == "README.md"} >= {"demo", "test"}


def test_every_sidechat_command_that_a_page_names_exists() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "sidechat_mcp", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = set(re.findall(r"^ {4}([a-z]+) ", shown, re.M))
    assert commands >= {"fork", "ask", "chat", "merge", "serve", "demo"}
    named = {
        (page.name, command)
        for page in PAGES
        for said in spoken(page.read_text("utf-8"))
        for command in re.findall(r"(?:^|/| )sidechat ([a-z]+)", said)
    }
    assert {(page, command) for page, command in named if command not in commands} == set()


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(TOP)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_the_readme_says_in_its_first_screen_what_it_does_and_the_two_commands() -> None:
    screen = "\n".join((TOP / "README.md").read_text("utf-8").splitlines()[:40])
    for needed in ("forks the conversation", "**one** short note", "$ make demo", "$ make test"):
        assert needed in screen


@behaviour("house:doc-code")
def test_python_shown_in_documents_runs(tmp_path: Path) -> None:
    for page in PAGES:
        for language, block in FENCE.findall(page.read_text("utf-8")):
            if language == "python":
                done = subprocess.run(
                    [sys.executable, "-c", block],
                    cwd=tmp_path,
                    env={**os.environ, "SIDECHAT_HOME": str(tmp_path / "home")},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, f"{page.name}: {done.stderr}"


@behaviour("house:glossary")
def test_the_glossary_explains_every_kind_of_event_and_turn_end() -> None:
    text = (TOP / "docs" / "glossary.md").read_text("utf-8")
    kinds = {body.__dataclass_fields__["kind"].default for body in get_args(events.Known)}
    explained = set(re.findall(r"^- `([a-z]+(?:/[a-z]+)?)` –", text, re.M))
    assert explained == kinds
    assert [word for word in get_args(events.Reason) if f"`{word}`" not in text] == []
    assert [word for word in get_args(events.Origin) if f"`{word}`" not in text] == []


DECISIONS = sorted((TOP / "docs" / "decisions").glob("*.md"))


@behaviour("house:decisions")
@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_is_one_page_of_context_decision_and_consequences(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.match(rf"# {page.stem[:4]} · \S", text), "its title begins with its number"
    assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 60


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(page.stem[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))

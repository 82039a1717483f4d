"""The list of behaviours and the tests hold each other."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import tests
from tests.behaviours import TESTED, Behaviour


def declared() -> dict[str, Behaviour]:
    found: dict[str, Behaviour] = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("test_"):
            lines = importlib.import_module(f"tests.behaviours.{module.name}").BEHAVIOURS
            assert not found.keys() & lines.keys(), "a behaviour is declared twice"
            found.update(lines)
    return found


def tested() -> dict[str, list[str]]:
    for module in pkgutil.walk_packages(tests.__path__, "tests."):
        if module.name.rpartition(".")[2].startswith("test_"):
            importlib.import_module(module.name)
    return TESTED


def test_every_behaviour_has_a_test_and_every_marked_test_a_behaviour() -> None:
    assert declared().keys() - tested().keys() == set(), "behaviours without a test"
    assert tested().keys() - declared().keys() == set(), "tests with an undeclared behaviour"

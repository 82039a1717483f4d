"""The providers that need nothing from outside keep the contract, on both event loops."""

from __future__ import annotations

import pytest

from sidechat_mcp.core.assemble import Context
from sidechat_mcp.core.content import ToolUse
from sidechat_mcp.ports.provider import Provider, Spent
from sidechat_mcp.providers.quoting.provider import Quoting
from sidechat_mcp.providers.scripted import Scripted
from sidechat_mcp.testing.provider_contract import Ask, DeterministicContract
from tests.behaviours import behaviour
from tests.providers.contexts import talk


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["quoting", "scripted", "scripted call"])
def provider(request: pytest.FixtureRequest) -> Provider:
    match request.param:
        case "quoting":
            return Quoting()
        case "scripted":
            return Scripted("I say what I say.")
        case _:
            return Scripted(["I look", " first.", Spent(10, 2), ToolUse("c1", "read", "{}")])


@pytest.fixture
def ask() -> Ask:
    def make(question: str) -> Context:
        said = ("Start with the first thing.", "The first thing said was the budget, 500 euros.")
        return talk(*said).fork().user(question).context()

    return make


@behaviour("providers:contract")
class TestContract(DeterministicContract):
    pass

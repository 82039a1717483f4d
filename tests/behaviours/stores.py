"""What every store does."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "stores:same-as-memory": Behaviour(
        "issue 2: stores", "SQLite answers every question as the memory store does."
    ),
}

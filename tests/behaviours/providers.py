"""What the providers must do."""

from __future__ import annotations

from tests.behaviours import Behaviour

BEHAVIOURS = {
    "providers:contract": Behaviour(
        "issue: providers behind one contract suite",
        "Every provider ends with Done, lets only ProviderError out, yields, and leaves nothing"
        " running.",
    ),
}

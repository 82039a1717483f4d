"""The contract of `ports.store.LogStore` as a suite, for every store there is or will be.

Inherit `StoreContract` in a test class and provide two fixtures: `now`, a `samples.Now`, and
`store`, an empty store that takes the time from it. Run it with anyio's pytest plugin."""

from __future__ import annotations

from sidechat_mcp.testing.store_reading import Lineages, Rows
from sidechat_mcp.testing.store_watching import EveryMethod, News, Turns
from sidechat_mcp.testing.store_writing import Forgetting, Keys, Places


class StoreContract(Places, Keys, Forgetting, Lineages, Rows, Turns, News, EveryMethod):
    """All of it."""

"""Side sessions for AI assistants: fork, converse, merge back.

`open()` gives a `Sidechat` over the configured store; everything else is reached through it.
Importing this package loads nothing heavy."""

from __future__ import annotations

__version__ = "0.1.0"

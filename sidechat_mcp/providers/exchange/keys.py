"""A provider's key: found where the person put it, shown nowhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, cast

SERVICE = "sidechat"
"""Under which name keys are looked up in the system's keyring."""


class _Keyring(Protocol):
    def get_password(self, service: str, name: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Secret:
    """Text that is in no `repr`, no log and no error. `place` says where it was found."""

    _value: str = field(repr=False)
    place: str = field(default="", compare=False)

    def reveal(self) -> str:
        return self._value

    @property
    def mark(self) -> str:
        """What tells two keys apart without saying either."""
        return hashlib.sha256(self._value.encode("utf-8", "replace")).hexdigest()[:16]

    def out_of(self, text: str) -> str:
        """`text` without the key."""
        return text.replace(self._value, "[key]")


def find(name: str, environ: Mapping[str, str]) -> Secret | None:
    """The key called `name`: from the environment, else from the keyring if that package is
    installed. May wait for the keyring to be unlocked. A key is one line of visible ASCII;
    anything else, which no header could carry, is no key."""
    given = environ.get(name)
    value = (given or _from_keyring(name)).strip()
    place = f"{name}, from the {'environment' if given else 'keyring'}"
    return Secret(value, place) if value and value.isascii() and value.isprintable() else None


def _from_keyring(name: str) -> str:
    try:
        keyring = cast("_Keyring", import_module("keyring"))
        return keyring.get_password(SERVICE, name) or ""
    except Exception:
        # No keyring, a locked one, a broken one: the same as no key in it.
        return ""

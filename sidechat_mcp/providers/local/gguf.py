"""What a GGUF file says of its model, read from its beginning alone."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

WINDOW = ".context_length"
MOST_PAIRS = 4096
MOST_NAME = 64 * 1024
_WHOLE = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_TEXT, _LIST = 8, 9


def window(path: Path) -> int | None:
    """How many tokens the model was trained for; None where the file does not say."""
    try:
        with path.open("rb") as file:
            return said(file)
    except OSError:
        return None


def said(file: BinaryIO) -> int | None:
    """The same of an open file."""
    try:
        return next((n for name, n in _numbers(file) if name.endswith(WINDOW) and n > 0), None)
    except (OSError, ValueError, OverflowError, struct.error):
        return None


def _numbers(file: BinaryIO) -> Iterator[tuple[str, int]]:
    """The pairs of the file whose value is a whole number, as far as they can be read."""
    magic, version, _, pairs = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version not in (2, 3):
        return
    for _ in range(min(pairs, MOST_PAIRS)):
        name = file.read(min(_number(file, "<Q"), MOST_NAME)).decode("utf-8", "replace")
        kind = _number(file, "<I")
        if kind in _WHOLE:
            yield name, _number(file, _WHOLE[kind])
        else:
            _pass(file, kind)


def _pass(file: BinaryIO, kind: int) -> None:
    """Go behind a value of `kind`. Raises ValueError for one that is unknown."""
    if kind == _TEXT:
        file.seek(_number(file, "<Q"), os.SEEK_CUR)
    elif kind == _LIST:
        each, length = struct.unpack("<IQ", file.read(12))
        if each == _TEXT:
            for _ in range(length):
                _pass(file, _TEXT)
        elif each in _SIZES:
            file.seek(_SIZES[each] * length, os.SEEK_CUR)
        else:
            raise ValueError(f"a list of {each} is unknown")
    elif kind in _SIZES:
        file.seek(_SIZES[kind], os.SEEK_CUR)
    else:
        raise ValueError(f"{kind} is unknown")


def _number(file: BinaryIO, form: str) -> int:
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return value

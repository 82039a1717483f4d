"""How large an image is, read from its first bytes."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.providers.wire.pictures import pixels
from tests.providers_wire.histories import png

FRAME = b"\xff\xc2\0\x0b\x08" + struct.pack(">HH", 480, 640) + b"\x03"
WEBP = b"RIFF\0\0\0\0WEBP"


def read(raw: bytes) -> tuple[int, int] | None:
    return pixels(base64.b64encode(raw).decode())


@pytest.mark.parametrize(
    ("raw", "sides"),
    [
        (b"GIF89a" + struct.pack("<HH", 640, 480), (640, 480)),
        (b"\xff\xd8\xff\xe0\0\x04JF" + FRAME, (640, 480)),
        (b"\xff\xd8\xff\xd8\xff\xff\xe1\0\x02" + FRAME, (640, 480)),
        (WEBP + b"VP8X" + b"\0" * 8 + b"\x7f\x02\0\xdf\x01\0", (640, 480)),
        (WEBP + b"VP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14), (640, 480)),
        (WEBP + b"VP8 " + b"\0" * 7 + b"\x9d\x01\x2a" + struct.pack("<HH", 640, 480), (640, 480)),
        (b"\xff\xd8\xff\xe0\0\x10", None),
        (WEBP + b"ABCD", None),
        (b"BM" + b"\0" * 40, None),
        (b"", None),
    ],
)
def test_each_format_says_its_size(raw: bytes, sides: tuple[int, int] | None) -> None:
    assert read(raw) == sides


def test_a_png_says_its_size_and_text_that_is_no_base64_says_none() -> None:
    assert pixels(png(640, 480)) == (640, 480)
    assert pixels("not base64!") is None


STARTS = [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", WEBP + b"VP8X", WEBP + b"VP8L"]


@given(st.sampled_from(STARTS), st.binary(max_size=60))
def test_no_bytes_break_the_reader(start: bytes, rest: bytes) -> None:
    sides = read(start + rest)
    assert sides is None or min(sides) > 0

"""Which images and documents of a history can be sent, so that an old one never spoils a new
question.

Bounds are those of the strictest provider (Anthropic: 100 images, 8000 pixels a side, or 2000
where there are more than 20 of them; 5 MB each, 32 MB a request). An image is judged by itself
and by what stands before it, so that a history that grows does not change what was sent of it."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from sidechat_mcp.core.content import Media

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
MOST_IMAGES = 100
MOST_SIDE = 8000
CROWD = 20
MOST_SIDE_IN_A_CROWD = 2000
MOST_LENGTH = 5 * 1024 * 1024
MOST_IN_ALL = 20 * 1024 * 1024
HEADER = 512 * 1024
"""How much of a file is looked at."""


@dataclass(slots=True)
class Gallery:
    """What has been let through so far. `refusal` is asked in the order of the conversation."""

    images: int = 0
    length: int = 0
    large: bool = False

    def refusal(self, media: Media) -> str | None:
        """Why `media` is not sent, or None: it is, and counts from here on."""
        if media.data is None:
            return "only a reference to it is kept"
        if media.kind == "document" and media.media_type != "application/pdf":
            return f"{media.media_type} cannot be sent"
        if len(media.data) > MOST_LENGTH or self.length + len(media.data) > MOST_IN_ALL:
            return "it is over the size that can be sent"
        why = self._image(media, media.data) if media.kind == "image" else _document(media.data)
        if why is None:
            self.length += len(media.data)
        return why

    def _image(self, media: Media, data: str) -> str | None:
        if media.media_type not in IMAGES:
            return f"{media.media_type} cannot be sent"
        sides = pixels(data)
        if sides is None:
            return "it is damaged"
        large = max(sides) > MOST_SIDE_IN_A_CROWD
        most = CROWD if large or self.large else MOST_IMAGES
        if max(sides) > MOST_SIDE or self.images >= most:
            return "it is over the size or the number that can be sent"
        self.images += 1
        self.large = self.large or large
        return None


def pixels(data: str) -> tuple[int, int] | None:
    """Width and height of a PNG, JPEG, GIF or WebP in base64; None for anything else."""
    raw = _beginning(data)
    if raw is None:
        return None
    if raw.startswith(b"\x89PNG\r\n\x1a\n") and raw[12:16] == b"IHDR":
        sides = _big(raw[16:20]), _big(raw[20:24])
    elif raw.startswith((b"GIF87a", b"GIF89a")):
        sides = _little(raw[6:8]), _little(raw[8:10])
    elif raw.startswith(b"RIFF") and raw[8:12] == b"WEBP":
        sides = _webp(raw)
    elif raw.startswith(b"\xff\xd8"):
        sides = _jpeg(raw)
    else:
        return None
    return sides if min(sides) > 0 else None


def _document(data: str) -> str | None:
    return None if (_beginning(data) or b"").startswith(b"%PDF-") else "it is damaged"


def _beginning(data: str) -> bytes | None:
    """The first bytes of something in base64, enough to know it by; None for what is no base64."""
    try:
        return base64.b64decode(data[:HEADER], validate=True) if len(data) % 4 == 0 else None
    except (binascii.Error, ValueError):
        return None


def _webp(raw: bytes) -> tuple[int, int]:
    match raw[12:16]:
        case b"VP8X":
            return _little(raw[24:27]) + 1, _little(raw[27:30]) + 1
        case b"VP8L" if raw[20:21] == b"\x2f" and len(raw) >= 25:
            packed = _little(raw[21:25])
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8 " if raw[23:26] == b"\x9d\x01\x2a":
            return _little(raw[26:28]) & 0x3FFF, _little(raw[28:30]) & 0x3FFF
        case _:
            return 0, 0


def _jpeg(raw: bytes) -> tuple[int, int]:
    """From the frame header: the first of the markers C0 to CF that starts a frame."""
    place = 2
    while place + 9 <= len(raw) and raw[place] == 0xFF:
        marker = raw[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _big(raw[place + 7 : place + 9]), _big(raw[place + 5 : place + 7])
        # Padding, and markers that stand alone, have no length behind them.
        alone = marker in (0x01, 0xFF) or 0xD0 <= marker <= 0xD9
        step = 1 if marker == 0xFF else 2
        place += step if alone else 2 + _big(raw[place + 2 : place + 4])
    return 0, 0


def _big(raw: bytes) -> int:
    return int.from_bytes(raw, "big")


def _little(raw: bytes) -> int:
    return int.from_bytes(raw, "little")

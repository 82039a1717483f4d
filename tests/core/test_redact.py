from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidechat_mcp.core.redact import clean, harmless, secrets
from tests.behaviours import behaviour

TAGGED = "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"
ENGLAND = "\U0001f3f4" + TAGGED
FAMILY = "👨\u200d👩\u200d👧"
RAINBOW = "🏳\ufe0f\u200d🌈"


@behaviour("core:harmless")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb\x1b[1;31mred\x1b[0m", "abred"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1b]52;c;ZXZpbA==\x9cb", "ab"),
        ("a\x1bPq#0\x1b\\b\x1b_apc\x1b\\c", "abc"),
        ("a\x9b31mb\x9d0;t\x07c", "abc"),
        ("a\x1b]0;never ended\nb", "a0;never ended\nb"),
        ("a\x1bcb\x1b(Bc\x1b", "abc"),
        ("a\x00b\x07c\x08d\x7fe\x80f", "abcdef"),
        ("a\tb\nc\r\nd\re\x0bf\x0cg\x85h", "a\tb\nc\nd\ne\nf\ng\nh"),
        ("a\u2028b\u2029c", "a\u2028b\u2029c"),
        ("a\u202eb\u2066c\u2069d\u200fe\u061cf", "abcdef"),
        ("a\u200bb\ufeffc\u2060d\u00ade\u3164f", "abcdef"),
        (f"hi{TAGGED}there", "hithere"),
        (f"\U0001f3f4{TAGGED[:-1]}", "\U0001f3f4"),
        (f"{ENGLAND}{TAGGED}", ENGLAND),
        ("\U0001f3f4\U000e0061\U000e007f", "\U0001f3f4"),
        (f"{ENGLAND}!", f"{ENGLAND}!"),
        (f"{FAMILY} {RAINBOW} 1\ufe0f\u20e3 ❤\ufe0f 👍🏽 🇩🇪", None),
        ("می\u200cخواهم क\u094d\u200dष", None),
        ("葛\U000e0100飾区", None),
        ("a\u200db\u200c c\ufe0fd", "ab cd"),
        ("😀\ufe0f\ufe0f\ufe0e", "😀\ufe0f"),
        ("x" + "".join(chr(0xE0100 + n) for n in range(20)), "x"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100"),
        ("a\ud800b\udfffc", "a\ufffdb\ufffdc"),
        ("naïve “quotes” — ok\u00a0½", None),
    ],
)
def test_what_deceives_is_taken_out_and_writing_stays(text: str, shown: str | None) -> None:
    assert harmless(text) == (text if shown is None else shown)


TRICKS = st.text(
    st.characters()
    | st.sampled_from(
        f"\x1b[]0;m\x07\x9b\x9c\\\n\u200d\u200c\ufe0f\ufe0e\U000e0101葛😀❤1#{ENGLAND}"
    ),
    max_size=20,
)


@behaviour("core:harmless")
@given(TRICKS)
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    once = harmless(text)

    assert harmless(once) == once
    assert not any(c < " " and c not in "\n\t" for c in once)
    assert not set(once) & set("\x7f\x9b\u202e\u2066\u200b\ufeff")
    once.encode()


@behaviour("core:redact-idempotent")
@given(TRICKS)
def test_cleaning_again_changes_nothing(text: str) -> None:
    once = clean(text)

    assert clean(once) == once
    assert once == once.rstrip()


def test_hidden_characters_do_not_hide_a_credential() -> None:
    token = "gh\u200bp_" + "aB3\x1b[0m" * 12

    assert clean(f"{token} ") == "[redacted: GitHub token]"


@behaviour("core:redact-linear")
@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----\n",
        "eyJ-eyJ_",
        "eyJaaaaaaaaaa.",
        "password=",
        "password: ",
        "auth: '\"`",
        'auth:"\\"',
        "x:\\\\\\",
        "Cookie:",
        "cookie: a",
        "https://a:b",
        "a://",
        "a-",
        "<a:",
        "<password>a",
        "?a.b&c-",
        "curl ",
        "machine a login ",
        "authorization: bearer ",
        "$2b$",
        "access_token$a",
        "Private-Lines: 1\n",
        "sk-ant-api03-",
        "AAAAAAAAAAAAAAAAAAAAAA%",
        "--a-b",
        "EAAaaaaaaa",
        "SG.a.",
        "\x1b]",
        "\x90",
        "\x1b[0",
        "\x9b",
        "\u200d",
        "\U0001f3f4\U000e0067",
        "hooks.slack.com/services/",
        "M1a.b.",
        "1/1/",
        "~8Q~",
    ],
)
def test_no_text_takes_more_than_its_length(piece: str) -> None:
    def cost(length: int) -> float:
        text = (piece * length)[:length]
        best = 9.0
        for n in range(3):  # Each time another text: what was looked through once is known.
            begin = time.process_time()
            secrets(harmless(f"{n}{text}"))
            best = min(best, time.process_time() - begin)
        return best

    small, large = cost(2_000), cost(32_000)
    # Sixteen times the length; two hundred and fifty-six times the cost would be quadratic.
    assert large < 64 * small + 0.01

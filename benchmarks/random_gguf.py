"""A llama.cpp model of random weights: it says nothing, but its prefix cache is the real one.

Two layers of 64 numbers, wide inside, so that as with real models most of the work does not grow
with what was read before; and a vocabulary of bytes and of what occurs often in a given text, so
that a page has as many tokens as with any other model. Needs `gguf` and `numpy`."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

WIDTH, LAYERS, HEADS, INNER = 64, 2, 4, 16_384
WINDOW = 65_536
MERGES = 1500
_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_WORD = re.compile(r" ?[A-Za-z]+")
_NORMAL, _CONTROL = 1, 3


def letters() -> list[str]:
    """The visible character that stands for each byte in a byte-level vocabulary, as GPT-2 has
    it: the printable ones for themselves, the others from U+0100 on."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    found: list[str] = []
    extra = 256
    for byte in range(256):
        found.append(chr(byte if byte in printable else extra))
        extra += byte not in printable
    return found


def merges(text: str, most: int = MERGES) -> list[tuple[str, str]]:
    """The pairs that byte-pair encoding of `text` joins, in order; inside words only."""
    spelled = letters()
    plain: list[str] = _WORD.findall(text)
    words: Counter[tuple[str, ...]] = Counter(
        tuple(spelled[byte] for byte in word.encode()) for word in plain
    )
    found: list[tuple[str, str]] = []
    while len(found) < most:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                pairs[pair] += times
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        found.append(best)
        words = Counter({_joined(word, best): times for word, times in words.items()})
    return found


def _joined(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    for letter in word:
        if out and (out[-1], letter) == pair:
            out[-1] += letter
        else:
            out.append(letter)
    return tuple(out)


def write(path: Path, text: str, seed: int = 1) -> None:
    """Write the model; the same text and seed give the same file."""
    gguf: Any = import_module("gguf")
    numpy: Any = import_module("numpy")
    pairs = merges(text)
    vocabulary = [*letters(), *("".join(pair) for pair in pairs), "<|im_start|>", "<|im_end|>"]
    out = gguf.GGUFWriter(str(path), "llama")
    out.add_name("random")
    out.add_context_length(WINDOW)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(INNER)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(len(vocabulary))
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(vocabulary)
    out.add_token_types([_NORMAL] * (len(vocabulary) - 2) + [_CONTROL] * 2)
    out.add_token_merges([" ".join(pair) for pair in pairs])
    out.add_bos_token_id(len(vocabulary) - 2)
    out.add_eos_token_id(len(vocabulary) - 1)
    out.add_add_bos_token(False)
    out.add_chat_template(_TEMPLATE)
    drawn = numpy.random.default_rng(seed)

    def tensor(name: str, *shape: int) -> None:
        values = drawn.standard_normal(shape) * 0.05 if len(shape) > 1 else numpy.ones(shape)
        out.add_tensor(name, values.astype(numpy.float32))

    tensor("token_embd.weight", len(vocabulary), WIDTH)
    tensor("output_norm.weight", WIDTH)
    tensor("output.weight", len(vocabulary), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            tensor(f"{block}{name}.weight", WIDTH)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensor(f"{block}{name}.weight", WIDTH, WIDTH)
        for name in ("ffn_gate", "ffn_up"):
            tensor(f"{block}{name}.weight", INNER, WIDTH)
        tensor(f"{block}ffn_down.weight", WIDTH, INNER)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()

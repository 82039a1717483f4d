"""What servers say of a model's window, in their own spellings. Pure; what is not said is None.

No model is known here by its name: such tables age, and a wrong one refuses what would fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sidechat_mcp.providers.wire.answering import count, part, rows, word

_NAMES = (
    "max_input_tokens",  # Anthropic
    "max_model_len",  # vLLM, SGLang
    "context_length",  # OpenRouter and others
    "context_window",
    "max_context_length",
)


def listed(found: Mapping[str, Any], model: str) -> int | None:
    """From a list of models, or from the description of one: the least that is said."""
    entry = _entry(found, model)
    said = [count(entry, name) for name in _NAMES]
    said.append(count(part(entry, "top_provider"), "context_length"))
    return min((tokens for tokens in said if tokens is not None and tokens > 0), default=None)


def elsewhere(found: Mapping[str, Any], model: str) -> tuple[str, Reader] | None:
    """Where else on its host the kind of server that gave this list says how much it takes now: a
    path from the host's root on, and what reads the answer. Such servers take less than the model
    could, as they were started."""
    entry = _entry(found, model) or _first(rows(found, "data"))
    return _BY_OWNER.get(word(entry, "owned_by") or "")


def _props(found: Mapping[str, Any], model: str) -> int | None:
    """llama.cpp has one model, whatever it is called in a request."""
    del model
    return count(part(found, "default_generation_settings"), "n_ctx")


def _running(found: Mapping[str, Any], model: str) -> int | None:
    names = (model, f"{model}:latest")
    running = [one for one in rows(found, "models") if one.get("name") in names]
    return count(_first(running), "context_length")


def _loaded(found: Mapping[str, Any], model: str) -> int | None:
    return count(_entry(found, model), "loaded_context_length")


Reader = Callable[[Mapping[str, Any], str], int | None]
_BY_OWNER: Mapping[str, tuple[str, Reader]] = {
    "llamacpp": ("/props", _props),
    "library": ("/api/ps", _running),  # Ollama
    "organization_owner": ("/api/v0/models", _loaded),  # LM Studio
}


def _entry(found: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The description of `model`; a variant of it (`NAME:free`) that is not listed is the model."""
    if found.get("id") == model:
        return found
    by_name = {one.get("id"): one for one in rows(found, "data")}
    named = (by_name[name] for name in (model, model.partition(":")[0]) if name in by_name)
    return _first(named)


def _first(some: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    for one in some:
        return one
    return {}

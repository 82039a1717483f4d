"""Writes conversations as Claude Code 2.1.332 keeps them: the same records, links and order."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Record = dict[str, Any]
Call = tuple[str, dict[str, Any]]

_IDS = uuid.UUID("6f0c7a58-30a4-4d6b-9d0e-0f1a2b3c4d5e")
_MODEL = "claude-opus-5-5"


@dataclass
class Scribe:
    """`tip` is what the next record hangs on. Ids and times depend on nothing but the order."""

    session: str = "0b9f6d1e-5a3c-4c55-9e53-2a7d1f0c9b21"
    cwd: str = "/home/ana/work/ferryline"
    version: str = "2.1.332"
    now: datetime = datetime(2026, 11, 3, 9, 12, 4, tzinfo=UTC)
    records: list[Record] = field(default_factory=list[Record])
    tip: str | None = None
    made: int = 0

    def text(self) -> bytes:
        """The file so far."""
        return b"".join(line(record) for record in self.records)

    def id(self, of: str = "") -> str:
        self.made += 1
        return str(uuid.uuid5(_IDS, f"{self.session}/{self.made}/{of}"))

    def chain(self, type: str, *, hang: str | None = None, **members: Any) -> str:
        """A record of the conversation; `hang` names another parent than the tip."""
        self.now += timedelta(milliseconds=731)
        own = self.id(type)
        self.records.append(
            {
                "parentUuid": hang if hang is not None else self.tip,
                "isSidechain": False,
                "type": type,
                **members,
                "uuid": own,
                "timestamp": self.now.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                "userType": "external",
                "entrypoint": "cli",
                "cwd": self.cwd,
                "sessionId": self.session,
                "version": self.version,
                "gitBranch": "main",
            }
        )
        self.tip = own
        return own

    def note(self, type: str, **members: Any) -> None:
        """A record that is the client's own bookkeeping."""
        self.records.append({"type": type, **members, "sessionId": self.session})

    def user(self, content: str | list[Any], **members: Any) -> str:
        return self.chain("user", message={"role": "user", "content": content}, **members)

    def prompt(self, text: str | list[Any]) -> str:
        origin: Record = {"origin": {"kind": "human"}, "promptSource": "typed"}
        return self.user(text, permissionMode="default", turnOrigin="human", **origin)

    def shows(self, what: str, text: str, role: str = "system", **about: Any) -> str:
        """An attachment as the model saw it."""
        wrapped = f"<system-reminder>\n{text}\n</system-reminder>"
        return self.chain(
            "attachment",
            attachment={"type": what, **about},
            rendered=[{"content": wrapped}],
            renderedRole=role,
        )

    def answers(
        self,
        *blocks: Record,
        stop: str | None = "end_turn",
        output: int = 120,
        **members: Any,
    ) -> list[str]:
        """One message, a record for each block; their uuids."""
        message = f"msg_{self.id('message').replace('-', '')[:24]}"
        usage = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 410,
            "cache_read_input_tokens": 15_200,
            "output_tokens": output,
            "service_tier": "standard",
        }
        head = {"id": message, "type": "message", "role": "assistant", "model": _MODEL}
        tail = {"stop_reason": stop, "stop_sequence": None, "usage": usage}
        return [
            self.chain(
                "assistant",
                message={**head, "content": [block], **tail},
                apiBlockIndex=place,
                requestId=f"req_{message[4:]}",
                **members,
            )
            for place, block in enumerate(blocks)
        ]

    def says(self, text: str, **members: Any) -> str:
        return self.answers({"type": "text", "text": text}, **members)[-1]

    def calls(self, *calls: Call, text: str = "", thinking: str = "") -> list[str]:
        """A message that calls tools; the ids of the calls, whose records are the last ones."""
        ids = [f"toolu_{self.id('call').replace('-', '')[:22]}" for _ in calls]
        blocks = [
            {"type": "tool_use", "id": id, "name": name, "input": input}
            for id, (name, input) in zip(ids, calls, strict=True)
        ]
        first = [{"type": "text", "text": text}] if text else []
        thought = [think(thinking)] if thinking else []
        self.answers(*thought, *first, *blocks, stop="tool_use")
        return ids

    def results(self, *outcomes: tuple[str, str]) -> None:
        """A result for each call, each hanging on the record of its own call."""
        for call, text in outcomes:
            self.result(call, text)

    def result(self, call: str, text: str | list[Any], **about: Any) -> str:
        asked = next(
            record["uuid"]
            for record in self.records
            if record["type"] == "assistant" and record["message"]["content"][0].get("id") == call
        )
        block = {"tool_use_id": call, "type": "tool_result", "content": text, **about}
        return self.chain(
            "user",
            hang=asked,
            message={"role": "user", "content": [block]},
            toolUseResult=text,
            sourceToolAssistantUUID=asked,
        )

    def over(self, milliseconds: int = 4100) -> str:
        self.chain("system", subtype="stop_hook_summary", hookCount=0, preventedContinuation=False)
        return self.chain("system", subtype="turn_duration", durationMs=milliseconds)

    def interrupted(self, message: str = "") -> str:
        said = [{"type": "text", "text": "[Request interrupted by user]"}]
        return self.user(said, rowSource="harness", interruptedMessageId=message)

    def compacts(self, summary: str, kept: Sequence[str] = ()) -> str:
        """`/compact`: a new root, the summary, and the echo of the command."""
        logical, self.tip = self.tip, None
        about = {"trigger": "manual", "preservedMessages": {"uuids": list(kept)}}
        self.chain(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=logical,
            content="Conversation compacted",
            compactMetadata=about,
        )
        found = self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self.local("compact", "Compacted")
        return found

    def local(self, name: str, output: str) -> None:
        """A command that the client carries out itself: no turn."""
        caveat = "<local-command-caveat>A command of the client follows.</local-command-caveat>"
        self.user(caveat, isMeta=True)
        self.user(f"<command-name>/{name}</command-name>\n<command-args></command-args>")
        self.user(f"<local-command-stdout>{output}</local-command-stdout>")

    def command(self, name: str, text: str) -> str:
        """A slash command that is a prompt, for instance one of an MCP server."""
        echo = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
        self.user(echo, origin={"kind": "human"}, turnOrigin="human")
        return self.user([{"type": "text", "text": text}], isMeta=True, turnCompanion=True)


def think(text: str) -> Record:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVkIGJ5IG5vYm9keQ=="}


def line(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

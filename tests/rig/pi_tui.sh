#!/usr/bin/env bash
# Turns of a side session while pi's own screen stays open: one fork answers them all, and nothing
# is left of it when pi is killed.
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/pi_tui.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules.json" CLIENT=sidechat_pi_tui
. "$RIG/common.sh"
. "$HERE/screens.bash"
PI=${PI:-$BASE/npm/pi/node_modules/.bin/pi}
AGENT=$HOME_DIR/.pi/agent
mkdir -p "$AGENT" "$OUT/bin"; ln -sf "$PI" "$OUT/bin/pi"
cat > "$AGENT/models.json" <<T
{"providers": {"stub": {"baseUrl": "http://127.0.0.1:$PORT/v1", "api": "openai-completions", "apiKey": "stub",
  "models": [{"id": "stub-model", "contextWindow": 100000, "maxTokens": 4000}]}}}
T
cat > "$AGENT/mcp.json" <<T
{"mcpServers": {"sidechat": {"command": "$SRV_CMD", "args": $(args_json), "exposure": "direct"}}}
T
E=(PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
type_in() { tm send-keys -t rig "$1"; sleep 1; tm send-keys -t rig Enter; }
answered() { for _ in $(seq 120); do [ "$(grep -c '"answer"' "$OUT/llm.jsonl")" -ge "$1" ] && break; sleep 0.25; done; sleep 1; }
forks() { for pid in $(pgrep -x pi); do ps -o comm= -p $(ps -o ppid= -p "$pid") | grep -q python && echo "$pid"; done; }
tm_start "${E[@]}" pi --provider stub --model stub-model
wait_for 'stub-model' 40; sleep 3
type_in 'We ship ledgerd on Tuesday at 14:00 UTC.'; answered 2
type_in 'SIDE-FORK please'; answered 5; forks > "$OUT/first"
type_in 'SIDE-ASK please'; answered 8; forks > "$OUT/second"
type_in 'SIDE-ASK please'; answered 11; forks > "$OUT/third"
snap asked
kill -9 "$(pgrep -xo pi)"; sleep 2
{ pgrep -xa pi; pgrep -af 'serve.py'; } > "$OUT/orphans" || true
tm kill-server 2>/dev/null
PYTHONPATH=$HERE "$PY" - "$OUT" <<'T'
import json, sys
from pathlib import Path
from rows import beside, tell
out = Path(sys.argv[1])
first, second, third = ((out / name).read_text().split() for name in ("first", "second", "third"))
sent = [json.loads(line) for line in (out / "llm.jsonl").read_text().splitlines()]
asked = [one for one in sent if one.get("api") == "chat" and "[Side conversation]" in json.dumps(one)]
last = [one["view"]["messages"] for one in asked][-1]
rows = {
    f"one fork answers all turns: {first} {second} {third}": len(first) == 1 and first == second == third,
    "and is told each question once": [one["text"].count("How long do we keep") for one in last if one["role"] == "user"][-2:] == [1, 1],
    "killed with pi: nothing is left": not (out / "orphans").read_text().strip(),
}
sys.exit(tell("pi", "own rpc fork, in pi's screen", beside(rows)))
T

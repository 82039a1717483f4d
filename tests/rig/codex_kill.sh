#!/usr/bin/env bash
# What a side session leaves behind when it is killed at any moment of its answer, TIMES times:
#   RIG=path/to/rig PY=python with sidechat installed TIMES=10  bash tests/rig/codex_kill.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY RULES="$HERE/rules_codex.json" CLIENT=sidechat_codex_kill
. "$RIG/common.sh"
CODEX=${CODEX:-$BASE/npm/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex}
mkdir -p "$HOME_DIR/.codex" "$OUT/bin"; ln -sf "$CODEX" "$OUT/bin/codex"
cat > "$HOME_DIR/.codex/config.toml" <<T
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "stub"
base_url = "http://127.0.0.1:$PORT/v1"
env_key = "STUB_KEY"
wire_api = "responses"
[projects."$PROJ"]
trust_level = "trusted"
[mcp_servers.tiny]
command = "$PY"
args = ["$RIG/tiny_mcp.py"]
T
E=(STUB_KEY=stub PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
cli() { (cd "$PROJ" && exec "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
run 120 "${E[@]}" codex exec --json 'We ship ledgerd on Tuesday.' | tail -2 | cut -c1-200
PARENT=$(basename "$(ls "$HOME_DIR"/.codex/sessions/*/*/*/*.jsonl)" .jsonl | cut -c29-)
cli fork "codex:$PARENT" --json > "$OUT/fork.json"
CHILD=$("$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["session"])' "$OUT/fork.json")
LEFT=0; SERVERS=0
for n in $(seq "${TIMES:-10}"); do
  (cd "$PROJ" && exec "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp ask -s "$CHILD" "Question $n?") > /dev/null 2>&1 & OURS=$!
  sleep "$(awk -v seed="$RANDOM" 'BEGIN { srand(seed); printf "%.2f", 0.3 + 5 * rand() }')"
  # In turn us, and what we started.
  if [ $((n % 2)) = 0 ]; then kill -9 "$OURS"; else pgrep -f 'codex app-server' | xargs -r kill -9; fi 2>/dev/null
  wait "$OURS" 2>/dev/null; sleep 2
  if pgrep -af 'codex app-server' >> "$OUT/left"; then LEFT=$((LEFT + 1)); fi
  # The client's own servers see the end of their input, once they are up far enough to read it.
  sleep 1; if pgrep -af 'tiny_mcp' >> "$OUT/left"; then SERVERS=$((SERVERS + 1)); fi
done
cli ask -s "$CHILD" --json 'After all of it?' > "$OUT/after.json"
cli replay --verify --json > "$OUT/replay.json"
"$PY" - "$OUT" "$LEFT" "$SERVERS" <<'P'
import json, sys
from pathlib import Path
out, left, servers = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
after = json.loads((out / "after.json").read_text())
verdicts = {one["verdict"] for one in json.loads((out / "replay.json").read_text())["sessions"]}
rows = {f"forks left running after 2 s: {left}": left == 0,
        f"servers of the client left running after 3 s: {servers}": servers == 0,
        "the session answers as before": after.get("reason") == "completed",
        f"the log is whole: {', '.join(sorted(verdicts))}": not any("failed" in v for v in verdicts)}
for row, held in rows.items():
    print("ok    " if held else "FAILED", row)
sys.exit(0 if all(rows.values()) else 1)
P

#!/usr/bin/env bash
# The whole journey in the real pi against the rig's stub model, offline: fork from inside by tool,
# answered by pi's own fork; turns from the terminal meanwhile; an attack; merge; the next prompt.
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/pi.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules.json" CLIENT=sidechat_pi
. "$RIG/common.sh"
PI=${PI:-$BASE/npm/pi/node_modules/.bin/pi}
AGENT=$HOME_DIR/.pi/agent
mkdir -p "$AGENT/extensions" "$OUT/bin"; ln -sf "$PI" "$OUT/bin/pi"
cat > "$AGENT/models.json" <<T
{"providers": {"stub": {"baseUrl": "http://127.0.0.1:$PORT/v1", "api": "openai-completions", "apiKey": "stub",
  "models": [{"id": "stub-model", "contextWindow": 100000, "maxTokens": 4000}]}}}
T
cat > "$AGENT/mcp.json" <<T
{"mcpServers": {"sidechat": {"command": "$SRV_CMD", "args": $(args_json), "exposure": "direct"}}}
T
# The person lets everything pass: the fork must still be denied everything.
cat > "$AGENT/extensions/open.ts" <<'T'
export default function (pi) { pi.on("tool_call", () => ({ block: false })); }
T
E=(PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
say() { run 120 "${E[@]}" pi --provider stub --model stub-model "${@:2}" -p "$1"; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
state() { (cd "$1" && find . -type f -not -path './.git/*' -exec sha256sum {} +) | sort -k2; }
echo 'the number is 42' > "$PROJ/a.txt"

say 'CALLTOOL ^read$ {"path":"a.txt"}'
say 'We ship ledgerd on Tuesday at 14:00 UTC and keep the keys for 13 months.' -c
PARENT=$(basename "$(ls "$AGENT"/sessions/*/*.jsonl)" .jsonl); PARENT=${PARENT#*_}; echo "PARENT $PARENT"
echo "##### from inside, by tool"
say 'SIDE-FORK please' -c
say 'SIDE-ASK please' -c
CHILD=$(cli sessions --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["session"])')
echo "CHILD $CHILD"
echo "##### from the terminal, while the parent runs a turn of its own"
state "$HOME_DIR/.pi" > "$OUT/before"; state "$PROJ" > "$OUT/tree-before"
cli ask -s "$CHILD" --json 'SIDEQ-ONE why is it structured this way?' | tee "$OUT/one.json"
cli ask -s "$CHILD" --json 'SIDEQ-TWO CALLTOOL ^bash$ {"command":"touch '"$PROJ"'/hacked"}' | tee "$OUT/two.json"
cli ask -s "$CHILD" --json 'SIDEQ-THREE CALLTOOL ^write$ {"path":"'"$PROJ"'/hacked2","content":"x"}' | tee "$OUT/three.json"
cli ask -s "$CHILD" --json 'SIDEQ-FOUR CALLTOOL mcp__sidechat__fork$ {}' | tee "$OUT/four.json"
state "$HOME_DIR/.pi" > "$OUT/after"; state "$PROJ" > "$OUT/tree-after"
cli ask -s "$CHILD" --json 'SIDEQ-FIVE and meanwhile?' > "$OUT/five.json" &
say 'Meanwhile the parent runs a turn of its own.' -c
wait %2
echo "##### merge from inside, by tool, and the next prompts"
say 'SIDE-MERGE please' -c
say 'Go on with the plan, after the merge.' -c
sleep 2; { pgrep -xa pi; pgrep -af 'serve.py|sidechat_mcp'; } > "$OUT/orphans" || true
find "$HOME_DIR/.sidechat/hosted" -mindepth 2 > "$OUT/left" 2>/dev/null || true
cli fork "pi:$PARENT" --json | tee "$OUT/fork.json"
cli merge -s "$CHILD" --json > "$OUT/merged_again.json"; cat "$OUT/merged_again.json"
cli replay --verify --json > "$OUT/replay.json"
home_files
"$PY" "$HERE/check_pi.py" "$OUT"

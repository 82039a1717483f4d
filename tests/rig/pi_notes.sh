#!/usr/bin/env bash
# A note that was merged from the terminal comes before the live pi with the next prompt, by the
# extension that `sidechat setup pi --hook` installs through pi itself, and is taken away again:
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/pi_notes.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY CLIENT=sidechat_pi_notes
. "$RIG/common.sh"
PI=${PI:-$BASE/npm/pi/node_modules/.bin/pi}
AGENT=$HOME_DIR/.pi/agent
mkdir -p "$AGENT" "$OUT/bin"; ln -sf "$PI" "$OUT/bin/pi"
cat > "$AGENT/models.json" <<T
{"providers": {"stub": {"baseUrl": "http://127.0.0.1:$PORT/v1", "api": "openai-completions", "apiKey": "stub",
  "models": [{"id": "stub-model", "contextWindow": 100000, "maxTokens": 4000}]}}}
T
E=(PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
say() { run 120 "${E[@]}" pi --provider stub --model stub-model "${@:2}" -p "$1"; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
field() { "$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"; }
cli setup pi --hook --print | tail -2
cli setup pi --hook
cp "$AGENT/mcp.json" "$OUT/mcp.json"; cp "$AGENT/settings.json" "$OUT/settings.json"

say 'We ship ledgerd on Tuesday at 14:00 UTC.'
PARENT=$(basename "$(ls "$AGENT"/sessions/*/*.jsonl)" .jsonl); PARENT=${PARENT#*_}; echo "PARENT $PARENT"
cli fork "pi:$PARENT" --json > "$OUT/fork.json"
CHILD=$(field "$OUT/fork.json" session)
cli ask -s "$CHILD" 'SIDEQ when do we ship?'
cli merge -s "$CHILD" --json | tee "$OUT/merge.json"
say 'FIRST prompt after the merge.' -c
cli fork "pi:$PARENT" --json > "$OUT/seen.json"
cli merge -s "$CHILD" --json | tee "$OUT/merged_again.json"
say 'SECOND prompt after the merge.' -c
sleep 2; { pgrep -xa pi; pgrep -af 'serve.py|sidechat_mcp'; } > "$OUT/orphans" || true
cli setup pi --hook --undo
cp "$AGENT/mcp.json" "$OUT/mcp-after.json"; cp "$AGENT/settings.json" "$OUT/settings-after.json"
"$PY" "$HERE/check_pi_notes.py" "$OUT"

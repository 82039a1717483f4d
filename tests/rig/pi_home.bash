# Sourced by room.bash: the real pi. With HOOK set, `sidechat setup pi --hook` put it all in.
PI=${PI:-$BASE/npm/pi/node_modules/.bin/pi}
AGENT_DIR=$HOME_DIR/.pi/agent
mkdir -p "$AGENT_DIR/extensions" "$OUT/bin"; ln -sf "$PI" "$OUT/bin/pi"
cat > "$AGENT_DIR/models.json" <<T
{"providers": {"stub": {"baseUrl": "http://127.0.0.1:$PORT/v1", "api": "openai-completions", "apiKey": "stub",
  "models": [{"id": "stub-model", "contextWindow": 100000, "maxTokens": 4000}]}}}
T
[ -n "${HOOK:-}" ] || cat > "$AGENT_DIR/mcp.json" <<T
{"mcpServers": {"sidechat": {"command": "$SRV_CMD", "args": $(args_json), "exposure": "direct"}}}
T
# The person lets everything pass.
cat > "$AGENT_DIR/extensions/open.ts" <<'T'
export default function (pi) { pi.on("tool_call", () => ({ block: false })); }
T
E=(PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
[ -z "${HOOK:-}" ] || (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp setup pi --hook)
parent() { local one; one=$(basename "$(ls "$AGENT_DIR"/sessions/*/*.jsonl | head -1)" .jsonl); echo "${one#*_}"; }
SAY=(pi --provider stub --model stub-model -p @TEXT@)
MORE=(pi --provider stub --model stub-model --session @PARENT@ -p @TEXT@)
say() { run 120 "${E[@]}" pi --provider stub --model stub-model "${@:2}" -p "$1"; }
kept() { state "$HOME_DIR" | grep -vE ' \./\.(sidechat|cache|npm)/'; }
SCREEN=(pi --provider stub --model stub-model); READY='stub-model'
again() { AGAIN=(pi --provider stub --model stub-model --session "$1"); }

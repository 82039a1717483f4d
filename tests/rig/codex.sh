#!/usr/bin/env bash
# The whole journey in the real Codex against the rig's stub model, offline; side sessions are
# answered by Codex's own ephemeral fork:
#   RIG=path/to/rig PY=python with sidechat installed  bash tests/rig/codex.sh
# `check_codex.py` then judges what the stub and the disk recorded.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules_codex.json" CLIENT=sidechat_codex
. "$RIG/common.sh"
CODEX=${CODEX:-$BASE/npm/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex}
mkdir -p "$HOME_DIR/.codex" "$OUT/bin"; ln -sf "$CODEX" "$OUT/bin/codex"
# The person's own rules stand wide open: a fork must still be denied everything.
cat > "$HOME_DIR/.codex/config.toml" <<T
model = "stub-model"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
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
[mcp_servers.sidechat]
command = "$SRV_CMD"
args = $(args_json)
env_vars = ["STUB_KEY"]
startup_timeout_sec = 60
required = true
default_tools_approval_mode = "approve"
[mcp_servers.tiny]
command = "$PY"
args = ["$RIG/tiny_mcp.py"]
startup_timeout_sec = 60
required = true
default_tools_approval_mode = "approve"
T
E=(STUB_KEY=stub PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
say() { run 120 "${E[@]}" codex exec --dangerously-bypass-hook-trust resume --last --json "$1" | tail -4 | cut -c1-600; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
kept() { (cd "$HOME_DIR/.codex" && find . \( -name '*.jsonl' -o -name '*.toml' -o -name '*.json' \) -exec sha256sum {} +) | sort; }
tree() { (cd "$PROJ" && find . -type f -not -path './.git/*' -exec sha256sum {} +) | sort; }
session() { "$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["session"])' "$1"; }

run 120 "${E[@]}" codex exec --json 'CALLTOOL ^exec_command$ {"cmd":"echo 42"}' | tail -3 | cut -c1-400
say 'We ship ledgerd on Tuesday at 14:00 UTC and keep the keys for 13 months.'
PARENT=$(basename "$(ls "$HOME_DIR"/.codex/sessions/*/*/*/*.jsonl)" .jsonl | cut -c29-); echo "PARENT $PARENT" | tee "$OUT/parent"
echo "##### by tool, from inside the conversation"
say 'SIDE-FORK please'
say 'SIDE-ASK please'
say 'SIDE-MERGE please'
say 'Go on with the plan, after the tool merge.'
echo "##### from the terminal, while the conversation goes on"
cli fork "codex:$PARENT" --json > "$OUT/fork.json"; cut -c1-600 "$OUT/fork.json"
CHILD=$(session "$OUT/fork.json")
cli fork "codex:$PARENT" --json > "$OUT/other.json"
kept > "$OUT/kept-before"; tree > "$OUT/tree-before"
cli ask -s "$CHILD" --json 'SIDEQ-ONE what do we ship?' | tee "$OUT/one.json" | cut -c1-300
cli ask -s "$CHILD" --json 'SIDEQ-TWO CALLTOOL ^exec_command$ {"cmd":"touch '"$PROJ"'/hacked '"$HOME_DIR"'/hacked"}' | tee "$OUT/two.json" | cut -c1-400
cli ask -s "$CHILD" --json 'SIDEQ-THREE CALLTOOL ^mcp__tiny::newsession$ {"sid":"hacked"}' | tee "$OUT/three.json" | cut -c1-400
cli ask -s "$CHILD" --json 'SIDEQ-FOUR CALLTOOL spawn_agent$ {"message":"SIDEQ-AGENT"}' | tee "$OUT/four.json" | cut -c1-400
cli ask -s "$CHILD" --json 'SIDEQ-FIVE CALLTOOL ^mcp__sidechat::sessions$ {}' | tee "$OUT/five.json" | cut -c1-400
printf 'CHAT-ONE\nCHAT-TWO\n' | cli chat "$(session "$OUT/other.json")" > "$OUT/chat.txt" 2>&1
kept > "$OUT/kept-after"; tree > "$OUT/tree-after"
cli ask -s "$CHILD" --json 'SIDEQ-SIX meanwhile' > "$OUT/six.json" & ASKED=$!
say 'PARENT-MEANWHILE another turn'
wait $ASKED; cut -c1-300 "$OUT/six.json"
cli merge -s "$CHILD" --json | tee "$OUT/merge.json" | cut -c1-400
echo "##### the note, by the hook"
cat > "$HOME_DIR/.codex/hooks.json" <<'T'
{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"mcp_tool","server":"sidechat","tool":"pending_notes",
  "input":{"session_id":"${session_id}","prompt":"${prompt}"},"timeout":10}]}]}}
T
say 'Go on with the plan, after the hook.'
say 'And once more.'
cli fork "codex:$PARENT" --json > "$OUT/last_fork.json"
cli merge -s "$CHILD" --json > "$OUT/merged_again.json"
cli replay --verify --json > "$OUT/replay.json"
sleep 2; pgrep -af 'codex app-server' > "$OUT/orphans" || true
home_files
"$PY" "$HERE/check_codex.py" "$OUT"

#!/usr/bin/env bash
# The whole journey in the real Claude Code against the rig's stub model, offline:
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/claude_code.sh
# by tool and by prompt, answered by the agent that quotes; `check_claude_code.py` then judges what the stub recorded.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules.json" CLIENT=sidechat_claude
. "$RIG/common.sh"
CC=${CC:-$BASE/npm/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude}
mkdir -p "$HOME_DIR/.claude" "$OUT/bin"; ln -sf "$CC" "$OUT/bin/claude"
cat > "$HOME_DIR/.claude.json" <<T
{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["stub-key-0123456789"], "rejected": []},
 "projects": {"$PROJ": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "mcpServers": {}}}}
T
cat > "$OUT/mcp.json" <<T
{"mcpServers": {"sidechat": {"type": "stdio", "command": "$SRV_CMD", "args": $(args_json)}}}
T
E=(ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=stub-key-0123456789
   CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 SIDECHAT_AGENT=quoting
   PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
M=(--model claude-stub --mcp-config "$OUT/mcp.json" --strict-mcp-config --allowedTools mcp__sidechat)
say() { run 120 "${E[@]}" "$CC" -p "$1" "${M[@]}" "${@:2}"; }
newest() { ls -t "$HOME_DIR"/.claude/projects/*/*.jsonl | head -1; }

say 'We ship ledgerd on Tuesday at 14:00 UTC and keep the keys for 13 months.'
PARENT=$(basename "$(newest)" .jsonl); echo "PARENT $PARENT" | tee "$OUT/parent"
echo "##### by tool"
say 'SIDE-FORK please' --resume "$PARENT"
say 'SIDE-ASK please' --resume "$PARENT"
say 'SIDE-MERGE please' --resume "$PARENT"
say 'Go on with the plan, after the tool merge.' --resume "$PARENT"
echo "##### by prompt"
say "/mcp__sidechat__fork claude-code:$PARENT" --resume "$PARENT"
CHILD=$(cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp sessions --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["session"])')
echo "CHILD $CHILD" | tee "$OUT/child"
(cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp ask -s "$CHILD" 'When do we ship ledgerd?')
say "/mcp__sidechat__merge $CHILD" --resume "$PARENT"
say 'Go on with the plan, after the prompt merge.' --resume "$PARENT"
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
cli fork "claude-code:$PARENT" --json > "$OUT/last_fork.json"
cli merge -s "$CHILD" --json > "$OUT/merged_again.json"
cli replay --verify --json > "$OUT/replay.json"
home_files
"$PY" "$HERE/check_claude_code.py" "$OUT"

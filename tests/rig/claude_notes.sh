#!/usr/bin/env bash
# A note merged from a terminal reaches the live conversation by the hook, in the real Claude Code:
#   RIG=path/to/rig PY=python  bash tests/rig/claude_notes.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules.json" CLIENT=sidechat_claude_notes
. "$RIG/common.sh"
CC=${CC:-$BASE/npm/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude}
mkdir -p "$HOME_DIR/.claude" "$OUT/bin"; ln -sf "$CC" "$OUT/bin/claude"
cat > "$HOME_DIR/.claude.json" <<T
{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["stub-key-0123456789"], "rejected": []},
 "projects": {"$PROJ": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "mcpServers": {}}}}
T
echo '{"permissions": {"allow": ["mcp__sidechat"]}, "model": "claude-stub"}' > "$HOME_DIR/.claude/settings.json"
E=(ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=stub-key-0123456789 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin"
   CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 MCP_CONNECTION_NONBLOCKING=0 SIDECHAT_AGENT=quoting)
say() { run 120 "${E[@]}" claude -p "$1" "${@:2}"; }
newest() { ls -t "$HOME_DIR"/.claude/projects/*/*.jsonl | head -1; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
cli setup claude-code --hook; echo "[setup rc=$?]"
run 30 "${E[@]}" claude mcp list
say 'We ship ledgerd on Tuesday at 14:00 UTC.'
PARENT=$(basename "$(newest)" .jsonl); echo "PARENT $PARENT"
cli fork "claude-code:$PARENT" -q 'When do we ship ledgerd?' --json > "$OUT/fork.json"
CHILD=$("$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["session"])' "$OUT/fork.json")
cli merge -s "$CHILD" --json | tee "$OUT/merged.json"
say 'First prompt after the merge.' --resume "$PARENT"
say 'Second prompt after the merge.' --resume "$PARENT"
cli fork "claude-code:$PARENT" --json > /dev/null
cli merge -s "$CHILD" --json > "$OUT/again.json"
cli setup claude-code --hook --undo; echo "[undo rc=$?]"
run 30 "${E[@]}" claude mcp list > "$OUT/after-undo" 2>&1
cli replay --verify --json > "$OUT/replay.json"
"$PY" "$HERE/check_claude_notes.py" "$OUT"

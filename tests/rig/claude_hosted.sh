#!/usr/bin/env bash
# A side session answered by Claude Code itself (its own headless fork), in the real program:
#   RIG=path/to/rig PY=python  bash tests/rig/claude_hosted.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules.json" CLIENT=sidechat_claude_hosted_${MODE:-p}
. "$RIG/common.sh"
CC=${CC:-$BASE/npm/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude}
mkdir -p "$HOME_DIR/.claude" "$OUT/bin"; ln -sf "$CC" "$OUT/bin/claude"
cat > "$HOME_DIR/.claude.json" <<T
{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["stub-key-0123456789"], "rejected": []},
 "mcpServers": {"sidechat": {"type": "stdio", "command": "$SRV_CMD", "args": $(args_json)}},
 "projects": {"$PROJ": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "mcpServers": {}}}}
T
# The person's own rules stand wide open: the fork must still be denied everything.
echo '{"permissions": {"allow": ["Bash(*)", "Write", "Edit", "mcp__sidechat"], "defaultMode": "acceptEdits"}, "model": "claude-stub"}' > "$HOME_DIR/.claude/settings.json"
E=(ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=stub-key-0123456789 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin"
   CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 MCP_CONNECTION_NONBLOCKING=0)
say() { run 120 "${E[@]}" claude -p "$1" "${@:2}"; }
newest() { ls -t "$HOME_DIR"/.claude/projects/*/*.jsonl | head -1; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
echo 'the number is 42' > "$PROJ/a.txt"
if [ "${MODE:-p}" = tui ]; then   # an interactive parent, which stays open while we fork it
  tm_start "${E[@]}" claude
  wait_for 'shortcuts|auto mode|accept edits|>' 40; sleep 4
  tm send-keys -t rig 'We ship ledgerd on Tuesday at 14:00 UTC.'; sleep 1; tm send-keys -t rig Enter
  wait_for 'STUB-REPLY' 30; sleep 2; snap talked
  PARENT=$(basename "$(newest)" .jsonl)
else                                # a headless one
  say 'CALLTOOL ^Read$ {"file_path":"'"$PROJ"'/a.txt"}' --allowedTools Read
  PARENT=$(basename "$(newest)" .jsonl)
  say 'We ship ledgerd on Tuesday at 14:00 UTC.' --resume "$PARENT"
fi
echo "PARENT $PARENT"
echo "##### hosted: from the terminal"
(cd "$HOME_DIR/.claude/projects" && find . -name '*.jsonl' -exec sha256sum {} +) | sort > "$OUT/before"
(cd "$PROJ" && find . -type f -exec sha256sum {} +) | sort > "$OUT/tree-before"
cli fork "claude-code:$PARENT" --json > "$OUT/fork.json"; cat "$OUT/fork.json"
CHILD=$("$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["session"])' "$OUT/fork.json")
cli ask -s "$CHILD" --json 'SIDEQ-ONE why is it structured this way?' | tee "$OUT/one.json"
cli ask -s "$CHILD" --json 'SIDEQ-TWO CALLTOOL ^Bash$ {"command":"touch '"$PROJ"'/hacked","description":"x"}' | tee "$OUT/two.json"
cli ask -s "$CHILD" --json 'SIDEQ-THREE CALLTOOL ^Write$ {"file_path":"'"$PROJ"'/hacked2","content":"x"}' | tee "$OUT/three.json"
cli merge -s "$CHILD" --json | tee "$OUT/merge.json"
(cd "$HOME_DIR/.claude/projects" && find . -name '*.jsonl' -exec sha256sum {} +) | sort > "$OUT/after"
(cd "$PROJ" && find . -type f -exec sha256sum {} +) | sort > "$OUT/tree-after"
sleep 2; pgrep -af fork-session > "$OUT/orphans" || true
[ "${MODE:-p}" = tui ] && tm kill-server
cli replay --verify --json > "$OUT/replay.json"
"$PY" "$HERE/check_claude_hosted.py" "$OUT"

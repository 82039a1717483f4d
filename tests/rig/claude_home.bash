# Sourced by room.bash: the real Claude Code. With HOOK set, our hook is in its settings.
CC=${CC:-$BASE/npm/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude}
mkdir -p "$HOME_DIR/.claude" "$OUT/bin"; ln -sf "$CC" "$OUT/bin/claude"
cat > "$HOME_DIR/.claude.json" <<T
{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["stub-key-0123456789"], "rejected": []},
 "mcpServers": {"sidechat": {"type": "stdio", "command": "$SRV_CMD", "args": $(args_json)}},
 "projects": {"$PROJ": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "mcpServers": {}}}}
T
NOTES='{"hooks": [{"type": "mcp_tool", "server": "sidechat", "tool": "pending_notes",
  "input": {"session_id": "${session_id}", "prompt": "${prompt}"}, "timeout": 10}]}'
cat > "$HOME_DIR/.claude/settings.json" <<T
{"permissions": {"allow": ["Bash(*)", "Read", "Write", "Edit", "NotebookEdit", "WebFetch", "Task", "mcp__sidechat"], "defaultMode": "acceptEdits"},
 "model": "claude-stub", "hooks": {"UserPromptSubmit": [${HOOK:+$NOTES}]}}
T
E=(ANTHROPIC_BASE_URL=http://127.0.0.1:$PORT ANTHROPIC_API_KEY=stub-key-0123456789 PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin"
   CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1 MCP_CONNECTION_NONBLOCKING=0)
parent() { basename "$(ls -t "$HOME_DIR"/.claude/projects/*/*.jsonl | head -1)" .jsonl; }
SAY=(claude -p @TEXT@)
MORE=(claude -p @TEXT@ --resume @PARENT@)
say() { run 120 "${E[@]}" claude -p "$@"; }
# What Claude Code notes of itself while it runs (who runs, which servers it met, when it began) is
# no conversation and no setting of the person's; all else is held still.
kept() { state "$HOME_DIR" | grep -vE ' \./(\.sidechat|\.cache)/| \./\.claude\.json| \./\.claude/(sessions|plugins|backups)/'; }
SCREEN=(claude); READY='shortcuts|auto mode|accept edits'
again() { AGAIN=(claude --resume "$1"); }

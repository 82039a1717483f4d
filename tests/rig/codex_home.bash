# Sourced by room.bash: the real Codex. With HOOK set, our hook is in its settings.
CODEX=${CODEX:-$BASE/npm/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex}
mkdir -p "$HOME_DIR/.codex" "$OUT/bin"; ln -sf "$CODEX" "$OUT/bin/codex"
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
T
[ -z "${HOOK:-}" ] || cat > "$HOME_DIR/.codex/hooks.json" <<'T'
{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"mcp_tool","server":"sidechat","tool":"pending_notes",
  "input":{"session_id":"${session_id}","prompt":"${prompt}"},"timeout":10}]}]}}
T
E=(STUB_KEY=stub PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
parent() { basename "$(ls "$HOME_DIR"/.codex/sessions/*/*/*/*.jsonl | head -1)" .jsonl | cut -c29-; }
SAY=(codex exec --dangerously-bypass-hook-trust --json @TEXT@)
MORE=(codex exec --dangerously-bypass-hook-trust resume @PARENT@ --json @TEXT@)
say() { run 120 "${E[@]}" codex exec --dangerously-bypass-hook-trust --json "$@" | tail -3 | cut -c1-400; }
# Codex notes what it does in databases of its own, and copies the shell's settings for each thread;
# conversations, the person's settings and all else are held.
kept() { state "$HOME_DIR" | grep -vE ' \./\.(sidechat|cache)/| \./\.codex/(\.tmp/|tmp/|log/|shell_snapshots/|[a-z_0-9]*\.sqlite)'; }
SCREEN=(codex); READY='stub-model'
again() { AGAIN=(codex resume "$1"); }

#!/usr/bin/env bash
# Two threads in one Codex daemon, both calling our one server; a note put in while they are open:
#   RIG=path/to/rig PY=python with sidechat installed  bash tests/rig/codex_live.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules_codex.json" CLIENT=sidechat_codex_live
. "$RIG/common.sh"
. "$HERE/screens.bash"
CODEX=${CODEX:-$BASE/npm/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex}
mkdir -p "$HOME_DIR/.codex" "$OUT/bin"; ln -sf "$CODEX" "$OUT/bin/codex"
cat > "$HOME_DIR/.codex/config.toml" <<T
model = "stub-model"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "workspace-write"
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
E=(STUB_KEY=stub PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" SIDECHAT_DOORS=codex-inject "$PY" "$@"); }
rollouts() { ls "$HOME_DIR"/.codex/sessions/*/*/*/*.jsonl; }
ids() { rollouts | sed 's/.*T..-..-..-//; s/\.jsonl//'; }
type_in() { tm send-keys -t "rig:$1" "$2"; sleep 1; tm send-keys -t "rig:$1" Enter; }
see() { for _ in $(seq 120); do tm capture-pane -p -t "rig:$1" | grep -Eq -- "$2" && return 0; sleep 0.25; done; echo "!! no /$2/ in $1"; return 1; }

tm_start "${E[@]}" codex; see 0 'stub-model' || exit 1; sleep 3
type_in 0 'We ship ledgerd on Tuesday.'; see 0 'STUB-REPLY'; FIRST=$(ids)
tm new-window -t rig -c "$PROJ" "$(printf '%q ' "${CLEAN[@]}" "${E[@]}" codex)"; see 1 'stub-model'; sleep 3
type_in 1 'We keep the keys for 13 months.'; see 1 'STUB-REPLY'; SECOND=$(ids | grep -v "$FIRST")
echo "FIRST $FIRST" | tee "$OUT/first"; echo "SECOND $SECOND" | tee "$OUT/second"
type_in 0 'SIDE-FORK from the first'; see 0 'STUB-SAW-TOOL'
type_in 1 'SIDE-FORK from the second'; see 1 'STUB-SAW-TOOL'
for window in 0 1; do tm capture-pane -p -t "rig:$window" -S -200 > "$OUT/screen-$window.txt"; done
pgrep -fc 'app-server --listen' > "$OUT/daemons"
cli -m sidechat_mcp sessions --json > "$OUT/sessions.json"
# A model that the client knows: it is shown names of tools and searches for the rest.
tm new-window -t rig -c "$PROJ" "$(printf '%q ' "${CLEAN[@]}" "${E[@]}" codex -m gpt-5.5-codex)"; see 2 'gpt-5.5-codex'; sleep 3
type_in 2 'We pay on Fridays.'; see 2 'STUB-REPLY'; THIRD=$(ids | grep -v "$FIRST" | grep -v "$SECOND")
echo "THIRD $THIRD" | tee "$OUT/third"
cli -m sidechat_mcp fork "codex:$THIRD" --json > "$OUT/fork.json"
cli -m sidechat_mcp ask --json 'SIDEQ-PAY when do we pay?' > "$OUT/paid.json"
echo "##### a note put in"
CHILD=$("$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["sessions"][0]["session"])' "$OUT/sessions.json")
cli -m sidechat_mcp merge -s "$CHILD" --note 'Take care.' --json > "$OUT/merge.json"
type_in 1 'After the note.'; see 1 'STUB-REPLY After'
type_in 0 'Nothing here.'; see 0 'STUB-REPLY Nothing'; sleep 1
cli -m sidechat_mcp fork "codex:$SECOND" --json > "$OUT/again.json"
cli -m sidechat_mcp merge -s "$CHILD" --note 'Take care.' --json > "$OUT/merged_again.json"
tm kill-server
"$PY" "$HERE/check_codex_live.py" "$OUT"

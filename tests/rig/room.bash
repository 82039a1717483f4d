# Sourced by a journey after it has set CLIENT and WHO: the rig's fresh home with the real client WHO
# in it (claude, codex, opencode or pi), our server in that, and the person's own rules wide open.
# Each WHO_home.bash gives E (its environment), say TEXT… (one prompt, a process of its own), parent
# (the conversation's id), kept (what it keeps, hashed), SCREEN and AGAIN (its full screen, for a new
# conversation and for that one).
. "$RIG/common.sh"
SRV_ARGS=("$HERE/serve.py")
. "$HERE/${WHO}_home.bash"
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
field() { "$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$@"; }
newest_child() { cli sessions --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["session"])'; }
state() { (cd "$1" && find . -type f -not -path './.git/*' -exec sha256sum {} +) | sort -k2; }
. "$HERE/screens.bash"
asked_so_far() { wc -l < "$OUT/llm.jsonl"; }
# enter TEXT KIND: type a prompt and wait for its answer (KIND: plain, tool; nowait)
enter() {
  local before; before=$(asked_so_far)
  tm send-keys -t rig -l "$1"; sleep 1; tm send-keys -t rig Enter
  [ "$2" = nowait ] || { "$PY" "$HERE/heard.py" "$OUT/llm.jsonl" "$before" "$2" "$1" || snap "lost-$before"; sleep 2; }
}

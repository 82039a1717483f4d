#!/usr/bin/env bash
# kill -9 of our server, of the hosted fork and of the client, at random moments of a journey in a
# real client, KILLS of each, offline; SEED makes it the same moments again:
#   RIG=path/to/rig (set up) PY=python with sidechat installed WHO=claude|codex|opencode|pi KILLS=2 bash tests/rig/kills.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
case ${WHO:?WHO names the client} in
  claude) RULES=rules.json HOOK=1 NAME=claude-code FORKED=--fork-session ;;
  codex) RULES=rules_codex.json HOOK=1 NAME=codex FORKED=app-server ;;
  opencode) RULES=rules_opencode.json HOOK= NAME=opencode FORKED='serve --hostname' ;;
  pi) RULES=rules.json HOOK=1 NAME=pi FORKED='--mode rpc' ;;
esac
export RIG PY WHO TINY="$HERE/serve.py" RULES="$HERE/$RULES" CLIENT=sidechat_kills_$WHO${LANE:-}
. "$HERE/room.bash"
[ "$WHO" = opencode ] && E+=(SIDECHAT_DOORS=opencode)
words() { "$PY" -c 'import json,sys; print(json.dumps(sys.argv[1:]))' "$@"; }
cat > "$OUT/lane.json" <<T
{"client": "$NAME", "forked": "$FORKED", "cwd": "$PROJ", "log": "$OUT/llm.jsonl", "who": "$WHO",
 "under": $(words "${CLEAN[@]}" "${E[@]}"), "say": $(words "${SAY[@]}"), "more": $(words "${MORE[@]}"),
 "ours": $(words "$PY" -m sidechat_mcp)}
T
"$PY" "$HERE/kills.py" "$OUT/lane.json" "${KILLS:-2}" "${SEED:-$RANDOM}"

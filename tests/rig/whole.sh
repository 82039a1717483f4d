#!/usr/bin/env bash
# Everything in one conversation, in a real client's own screen, offline: calls of its own; a fork
# from inside; two side turns while the parent is in the middle of a turn; attacks, the person's own
# rules wide open; a merge; the next prompt; and one more after the client was started anew:
#   RIG=path/to/rig (set up) PY=python with sidechat installed WHO=claude|codex|opencode|pi  bash tests/rig/whole.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
case ${WHO:?WHO names the client} in
  claude) READ='^Read$ {"file_path":"a.txt"}'; SHELL_TOOL='^Bash$'; RULES=rules.json HOOK=1 NAME=claude-code ;;
  codex) READ='^exec_command$ {"cmd":"cat a.txt"}'; SHELL_TOOL='^exec_command$'; RULES=rules_codex.json HOOK= NAME=codex DOORS=codex-inject ;;
  opencode) READ='^read$ {"filePath":"a.txt"}'; SHELL_TOOL='^bash$'; RULES=rules_opencode.json HOOK= NAME=opencode DOORS=opencode ;;
  pi) READ='^read$ {"path":"a.txt"}'; SHELL_TOOL='^bash$'; RULES=rules.json HOOK=1 NAME=pi ;;
esac
export RIG PY WHO TINY="$HERE/serve.py" RULES="$HERE/$(basename "$RULES")" CLIENT=sidechat_whole_$WHO
. "$HERE/room.bash"
ours() { pgrep -af 'serve\.py|sidechat_mcp|--fork-session|codex app-server|opencode serve|--mode rpc'; }
# Codex's screen talks to a daemon, which outlives it: it ends with the client here.
ended() { local left; tm kill-server; sleep 1; left=$(pgrep -f 'app-server (--listen|daemon)'); [ -z "$left" ] || kill $left; sleep 2; }
E+=(${DOORS:+SIDECHAT_DOORS=$DOORS})
echo 'the number is 42' > "$PROJ/a.txt"
# A command that ends when we say so: the parent's turn is as long as that.
printf 'for n in $(seq 900); do [ -e "%s" ] && break; sleep 0.1; done; echo went on\n' "$OUT/go" > "$PROJ/wait.sh"
shell() { if [ "$WHO" = codex ]; then echo "$SHELL_TOOL {\"cmd\":\"$1\",\"yield_time_ms\":60000}"; else echo "$SHELL_TOOL {\"command\":\"$1\",\"description\":\"x\"}"; fi; }
. "$HERE/attacks.bash"

tm_start "${E[@]}" "${SCREEN[@]}"; wait_for "$READY" 60 || { snap start; exit 1; }; sleep 4
enter "CALLTOOL $READ" tool
enter 'We ship ledgerd on Tuesday at 14:00 UTC and keep the keys for 13 months.' plain
PARENT=$(parent); echo "PARENT $PARENT"
enter 'SIDE-FORK please' tool; snap forked
CHILD=$(newest_child); echo "CHILD $CHILD"
echo "##### two side turns while the parent is in the middle of one"
BEFORE=$(asked_so_far)
enter "PARENT-MEANWHILE CALLTOOL $(shell 'sh wait.sh')" nowait
"$PY" "$HERE/heard.py" "$OUT/llm.jsonl" "$BEFORE" call wait.sh
cli ask -s "$CHILD" --json 'SIDEQ-ONE what do we ship?' | tee "$OUT/one.json"
cli ask -s "$CHILD" --json 'SIDEQ-TWO and for how long are the keys kept?' | tee "$OUT/two.json"
BEFORE=$(asked_so_far); touch "$OUT/go"
"$PY" "$HERE/heard.py" "$OUT/llm.jsonl" "$BEFORE" tool wait.sh; sleep 3; snap meanwhile
echo "##### attacks"
kept > "$OUT/kept-before"; state "$PROJ" > "$OUT/tree-before"
for n in "${!ATTACKS[@]}"; do
  cli ask -s "$CHILD" --json "SIDEQ-ATTACK-$n CALLTOOL ${ATTACKS[$n]}" | tee "$OUT/attack-$n.json" | cut -c1-300
done
kept > "$OUT/kept-after"; state "$PROJ" > "$OUT/tree-after"; find "$OUT" -maxdepth 1 -name "hacked*" > "$OUT/written-outside"
echo "##### merge, the next prompt, and one more after a restart"
cli merge -s "$CHILD" --json | tee "$OUT/merge.json"; sleep 2
enter 'FIRST prompt after the merge.' plain; snap first
ended; ours > "$OUT/orphans-restart"
again "$PARENT"; tm_start "${E[@]}" "${AGAIN[@]}"; wait_for "$READY" 60; sleep 5
enter 'SECOND prompt after the merge.' plain; snap second
cli fork "$NAME:$PARENT" --json > "$OUT/fork.json"
cli merge -s "$CHILD" --json > "$OUT/again.json"
ended; ours > "$OUT/orphans"
cli replay --verify --json > "$OUT/replay.json"
home_files
"$PY" "$HERE/check_whole.py" "$OUT" "$WHO"

#!/usr/bin/env bash
# The whole journey in the real opencode against the rig's stub model, offline: fork from inside by
# tool, answered by opencode's own fork; turns from the terminal, one while the parent runs a turn;
# attacks with the person's rules wide open; a kill; merge; the next prompt.
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/opencode.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules_opencode.json" CLIENT=sidechat_opencode
. "$RIG/common.sh"
. "$HERE/opencode_home.bash"
echo 'the number is 42' > "$PROJ/a.txt"

say CALLTOOL '^read$' '{"filePath":"'"$PROJ"'/a.txt"}'
say -c We ship ledgerd on Tuesday at 14:00 UTC and keep the keys for 13 months.
PARENT=$(newest); echo "PARENT $PARENT"
echo "##### from inside, by tool"
say -c SIDE-FORK please
say -c SIDE-ASK please
CHILD=$(cli sessions --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["sessions"][0]["session"])')
echo "CHILD $CHILD"
echo "##### from the terminal"
rows > "$OUT/before"; kept > "$OUT/files-before"; state "$PROJ" > "$OUT/tree-before"
cli ask -s "$CHILD" --json 'SIDEQ-ONE why is it structured this way?' | tee "$OUT/one.json"
cli ask -s "$CHILD" --json 'SIDEQ-TWO CALLTOOL ^bash$ {"command":"touch '"$PROJ"'/hacked","description":"x"}' | tee "$OUT/two.json"
cli ask -s "$CHILD" --json 'SIDEQ-THREE CALLTOOL ^bash$ {"command":">'"$PROJ"'/hacked2","description":"x"}' | tee "$OUT/three.json"
cli ask -s "$CHILD" --json 'SIDEQ-FOUR CALLTOOL ^write$ {"filePath":"'"$PROJ"'/hacked3","content":"x"}' | tee "$OUT/four.json"
cli ask -s "$CHILD" --json 'SIDEQ-FIVE CALLTOOL ^sidechat_fork$ {}' | tee "$OUT/five.json"
echo "##### killed on the way"
cli ask -s "$CHILD" 'SIDEQ-KILLED' & ASKING=$!
for _ in $(seq 300); do pgrep -f 'opencode serve' > /dev/null && break; sleep 0.1; done; sleep 2
pkill -9 -P $ASKING -f 'sidechat_mcp ask'; sleep 2
pgrep -af 'opencode serve' > "$OUT/orphans-of-kill" || true
rows > "$OUT/after"; kept > "$OUT/files-after"; state "$PROJ" > "$OUT/tree-after"
echo "##### while the parent runs a turn of its own"
cli ask -s "$CHILD" --json 'SIDEQ-SIX and meanwhile?' > "$OUT/six.json" & ASKING=$!
say -c Meanwhile the parent runs a turn of its own.
wait $ASKING
echo "##### merge from inside, by tool, and the next prompts"
say -c SIDE-MERGE please
say -c Go on with the plan, after the merge.
sleep 2; { pgrep -af 'opencode serve'; pgrep -af 'serve.py|sidechat_mcp'; } > "$OUT/orphans" || true
find "$HOME_DIR/.sidechat/hosted" -mindepth 2 > "$OUT/left" 2>/dev/null || true
cli fork "opencode:$PARENT" --json | tee "$OUT/fork.json"
cli merge -s "$CHILD" --json > "$OUT/merged_again.json"; cat "$OUT/merged_again.json"
cli replay --verify --json > "$OUT/replay.json"
home_files
"$PY" "$HERE/check_opencode.py" "$OUT"

#!/usr/bin/env bash
# Two conversations in one folder in the real opencode's full screen, one after `/new` in the same
# process, one whose last turn is undone; a note written into one while it is open:
#   RIG=path/to/rig PY=python with sidechat installed  bash tests/rig/opencode_live.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" RULES="$HERE/rules_opencode.json" CLIENT=sidechat_opencode_live
. "$RIG/common.sh"
. "$HERE/screens.bash"
AGENT=quoting  # Who answers is shown by opencode.sh; here it is who is calling.
. "$HERE/opencode_home.bash"
type_in() { tm send-keys -t "rig:$1" "$2"; sleep 1; tm send-keys -t "rig:$1" Enter; }
see() { for _ in $(seq 480); do tm capture-pane -p -t "rig:$1" | grep -Eq -- "$2" && return 0; sleep 0.25; done; echo "!! no /$2/ in $1"; tm capture-pane -p -t "rig:$1"; return 1; }
idle() { sleep 2; }

tm_start "${E[@]}" opencode; see 0 'Ask anything|stub-model' || exit 1; sleep 3
type_in 0 'We ship ledgerd on Tuesday.'; see 0 'STUB-REPLY We ship'; idle; FIRST=$(newest)
tm new-window -t rig -c "$PROJ" "$(printf '%q ' "${CLEAN[@]}" "${E[@]}" opencode)"; see 1 'Ask anything|stub-model'; sleep 3
type_in 1 'We keep the keys for 13 months.'; see 1 'STUB-REPLY We keep'; idle; SECOND=$(newest)
type_in 0 'SIDE-FORK from the first'; see 0 'STUB-SAW-TOOL'; idle
type_in 1 'SIDE-FORK from the second'; see 1 'STUB-SAW-TOOL'; idle
type_in 0 '/new'; see 0 'Ask anything'; sleep 2
type_in 0 'We pay on Fridays.'; see 0 'STUB-REPLY We pay'; idle; THIRD=$(newest)
type_in 0 'SIDE-FORK from the third'; see 0 'STUB-SAW-TOOL'; idle
for window in 0 1; do tm capture-pane -p -t "rig:$window" -S -200 > "$OUT/screen-$window.txt"; done
cli sessions --json > "$OUT/sessions.json"
mirror() { cli fork "opencode:$1" --json | "$PY" -c 'import json,sys; print(json.load(sys.stdin)["parent"])'; }
for id in $FIRST $SECOND $THIRD; do mirror "$id"; done | tee "$OUT/parents"
echo "##### undone"
type_in 0 'This is a mistake.'; see 0 'STUB-REPLY This is a mistake'; idle
cli fork "opencode:$THIRD" --json > "$OUT/whole.json"
type_in 0 '/undo'; idle; idle
cli fork "opencode:$THIRD" --json > "$OUT/undone.json"
echo "##### a note written in"
CHILD=$("$PY" -c 'import json,sys; print(json.load(open(sys.argv[1]))["sessions"][1]["session"])' "$OUT/sessions.json")
E+=(SIDECHAT_DOORS=opencode)
cli merge -s "$CHILD" --note 'Take care.' --json | tee "$OUT/merge.json"; idle
rows > "$OUT/noted"
type_in 1 'After the note.'; see 1 'STUB-REPLY After'; idle
cli fork "opencode:$SECOND" --json > "$OUT/fork.json"
cli merge -s "$CHILD" --note 'Take care.' --json | tee "$OUT/merged_again.json"
tm kill-server; sleep 2
{ pgrep -af 'opencode serve'; pgrep -af 'serve.py|sidechat_mcp'; } > "$OUT/orphans" || true
home_files
"$PY" "$HERE/check_opencode_live.py" "$OUT"

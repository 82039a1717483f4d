#!/usr/bin/env bash
# What we read of a conversation is what opencode's next request holds, in the real opencode: a call,
# a command of the person's, a note, an undo, a compaction.
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/opencode_seed.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY TINY="$HERE/serve.py" CLIENT=sidechat_opencode_seed
. "$RIG/common.sh"
. "$HERE/opencode_home.bash"
echo 'the number is 42' > "$PROJ/a.txt"
run 300 "${E[@]}" "$PY" "$HERE/check_opencode_seed.py" drive "$OUT"
"$PY" "$HERE/check_opencode_seed.py" judge "$OUT"

# Sourced after the rig's common.sh: a terminal of this journey's own, for others may run beside it.
tm() { TMUX_TMPDIR=$OUT tmux -L rig -f /dev/null "$@"; }
tm_start() { (cd "$PROJ" && "${CLEAN[@]}" TMUX_TMPDIR="$OUT" tmux -L rig -f /dev/null new-session -d -s rig -x 150 -y 50 "$(printf '%q ' "$@")"); }

#!/usr/bin/env bash
# What we read of a session is what pi's next request holds, in the real pi: a call, a shell run, an
# extension's message, a branch that was left with a summary, a compaction.
#   RIG=path/to/rig (set up) PY=python with sidechat installed  bash tests/rig/pi_seed.sh
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RIG=${RIG:?RIG names the rig folder, set up by its setup.sh}
export RIG PY CLIENT=sidechat_pi_seed
. "$RIG/common.sh"
PI=${PI:-$BASE/npm/pi/node_modules/.bin/pi}
AGENT=$HOME_DIR/.pi/agent
mkdir -p "$AGENT/extensions"
cat > "$AGENT/models.json" <<T
{"providers": {"stub": {"baseUrl": "http://127.0.0.1:$PORT/v1", "api": "openai-completions", "apiKey": "stub",
  "models": [{"id": "stub-model", "contextWindow": 100000, "maxTokens": 4000}]}}}
T
echo '{"compaction": {"keepRecentTokens": 20}}' > "$AGENT/settings.json"
cat > "$AGENT/extensions/moves.ts" <<'T'
export default function (pi) {
  pi.registerCommand("memo", { handler: async () =>
    pi.sendMessage({ customType: "memo", content: "A memo.", display: true }, { deliverAs: "nextTurn" }) });
  pi.registerCommand("back", { handler: async (_args, ctx) => {
    const asked = ctx.sessionManager.getBranch().filter((one) => one.message?.role === "user");
    await ctx.navigateTree(asked[asked.length - 1].parentId, { summarize: true });
  } });
}
T
echo 'the number is 42' > "$PROJ/a.txt"
E=(PI_OFFLINE=1 PI_TELEMETRY=0 PI_SKIP_VERSION_CHECK=1)
run 120 "${E[@]}" "$PY" "$HERE/check_pi_seed.py" drive "$OUT" "$PI" --provider stub --model stub-model --mode rpc
"$PY" "$HERE/check_pi_seed.py" judge "$OUT"

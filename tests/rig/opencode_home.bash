# Sourced by opencode*.sh: the real opencode in the rig's fresh home, with our server in it, and the
# person's own rules wide open.
OC=${OC:-$BASE/npm/opencode/node_modules/opencode-linux-x64/bin/opencode}
mkdir -p "$OUT/bin"; ln -sf "$OC" "$OUT/bin/opencode"
cat > "$PROJ/opencode.json" <<T
{
  "\$schema": "https://opencode.ai/config.json",
  "autoupdate": false, "share": "disabled",
  "model": "stub/stub-model", "small_model": "stub/stub-model",
  "enabled_providers": ["stub"],
  "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "stub",
    "options": {"baseURL": "http://127.0.0.1:$PORT/v1", "apiKey": "stub"},
    "models": {"stub-model": {"name": "stub-model", "tool_call": true, "limit": {"context": 100000, "output": 4000}}}}},
  "permission": {"*": "allow"},
  "mcp": {"sidechat": {"type": "local", "enabled": true, "timeout": 60000,
    "command": $("$PY" -c 'import json,sys; print(json.dumps(sys.argv[1:]))' "$SRV_CMD" "${SRV_ARGS[@]}"),
    "environment": {"SIDECHAT_AGENT": "${AGENT:-auto}"}}}
}
T
E=(OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1
   OPENCODE_DISABLE_DEFAULT_PLUGINS=1 SIDECHAT_AGENT="${AGENT:-auto}"
   PATH="$OUT/bin:$NODE22:/usr/local/bin:/usr/bin:/bin")
say() { run 120 "${E[@]}" opencode run "$@"; }
cli() { (cd "$PROJ" && "${CLEAN[@]}" "${E[@]}" "$PY" -m sidechat_mcp "$@"); }
DB="$HOME_DIR/.local/share/opencode/opencode.db"
rows() {  # every row of the three tables, by id
  "$PY" - "$DB" <<'T'
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for table in ("session", "message", "part"):
    for row in database.execute(f"SELECT * FROM {table} ORDER BY id"):
        print(table, row)
T
}
newest() { "$PY" - "$DB" <<'T'
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(database.execute("SELECT id FROM session ORDER BY time_updated DESC LIMIT 1").fetchone()[0])
T
}
state() { (cd "$1" && find . -type f -not -path './.git/*' -exec sha256sum {} +) | sort -k2; }
# Whoever reads a database in use leaves a mark in its -shm, and a running client keeps its own log,
# locks and git of snapshots, which it packs now and then; nothing else of the client's may change.
kept() { state "$HOME_DIR/.local" | grep -vE 'opencode.db-shm|/opencode/(log|snapshot|locks)/'; state "$HOME_DIR/.config"; }
parent() { newest; }
SAY=(opencode run @WORDS@)
MORE=(opencode run -s @PARENT@ @WORDS@)
SCREEN=(opencode); READY='Ask anything|stub-model'
again() { AGAIN=(opencode -s "$1"); }

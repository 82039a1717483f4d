// Shows the notes of your side conversations to pi's model, together with your next prompt.
// `sidechat setup pi --hook` writes and installs this; `--undo` takes it away again.
import { spawn } from "node:child_process";

const SERVER = "@SERVER@"; // A list: the program and its arguments.
const ENVIRONMENT = "@ENVIRONMENT@";
const PATIENCE = 10000; // Milliseconds that a prompt waits at most, as pi does for its servers.

/** One sidechat server over pipes, asked for nothing but notes. */
function connect() {
  const server = spawn(SERVER[0], SERVER.slice(1), {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...ENVIRONMENT },
  });
  const waiting = new Map();
  let last = 0;
  let rest = "";
  const giveUp = () => {
    for (const answer of waiting.values()) answer(undefined);
    waiting.clear();
  };
  server.on("error", giveUp);
  server.on("exit", giveUp);
  server.stdin.on("error", giveUp);
  server.stdout.setEncoding("utf8");
  server.stdout.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = parsed(line);
      waiting.get(message?.id)?.(message.result);
      waiting.delete(message?.id);
    }
  });
  const send = (message) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params) =>
    new Promise((answer) => {
      const id = ++last;
      waiting.set(id, answer);
      send({ id, method, params });
    });
  const ready = ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "sidechat-notes", version: "1" },
  }).then(() => send({ method: "notifications/initialized" }));
  return {
    async notes(session) {
      await ready;
      const given = { session_id: session };
      const result = await ask("tools/call", { name: "pending_notes", arguments: given });
      return parsed(result?.content?.[0]?.text)?.hookSpecificOutput?.additionalContext;
    },
    end: () => server.stdin.end(),
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export default function (pi) {
  if (process.env.SIDECHAT_HOSTED) return; // A note never goes to a side conversation.
  let server;
  pi.on("session_start", () => {
    server?.end();
    server = connect();
  });
  pi.on("session_shutdown", () => {
    server?.end();
    server = undefined;
  });
  pi.on("before_agent_start", async (_event, ctx) => {
    let timer;
    const late = new Promise((answer) => {
      timer = setTimeout(answer, PATIENCE);
    });
    const asked = server?.notes(ctx.sessionManager.getSessionId());
    const content = await Promise.race([asked, late]);
    clearTimeout(timer);
    return content ? { message: { customType: "sidechat", content, display: true } } : undefined;
  });
}

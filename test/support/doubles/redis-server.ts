import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { showProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { answersPing } from "../../../deploy/local/components/redis-ping.ts";
import { freePorts } from "../fixtures/free-ports.ts";
import { until } from "../fixtures/until.ts";

/** A Redis, as in the local cluster, on a constant loopback port; its data is lost when it stops. */
export interface RedisServer {
  readonly url: string;
  readonly password: string;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** Cuts connections and refuses new ones. */
  stop(): Promise<void>;
  /** Stops answering; connections stay open. */
  freeze(): void;
  thaw(): void;
}

/** A stopped server; call `stop` at the end, in any state. */
export async function redisServer(): Promise<RedisServer> {
  const { programs } = await buildModule(goModules.controlplane, showProgress());
  const [port = 0] = await freePorts(1);
  const password = randomBytes(24).toString("hex");
  let running: ChildProcess | undefined;
  return {
    password,
    url: `redis://127.0.0.1:${port}/3`,
    async start() {
      const env = { ...process.env, REDIS_PASSWORD: password };
      running = spawn(join(programs, "redis"), [`127.0.0.1:${port}`], { stdio: "ignore", env });
      await until(() => answersPing({ port, password }).catch(() => false), { what: "Redis", deadlineMs: 20_000 });
    },
    async stop() {
      const ending = running;
      running = undefined;
      if (ending === undefined || ending.exitCode !== null) return;
      const end = once(ending, "exit");
      ending.kill("SIGKILL");
      await end;
    },
    freeze: () => void running?.kill("SIGSTOP"),
    thaw: () => void running?.kill("SIGCONT"),
  };
}

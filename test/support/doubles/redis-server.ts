import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { showProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { answersPing } from "../../../deploy/local/components/redis-ping.ts";
import { until } from "../fixtures/until.ts";
import { freePorts } from "../plane/free-ports.ts";

/** A Redis of the local cluster's own kind, on a port of loopback that stays the same; what it holds goes when it stops. */
export interface RedisServer {
  readonly url: string;
  readonly password: string;
  /** Resolves when it answers. */
  start(): Promise<void>;
  /** Connections are cut, and new ones refused. */
  stop(): Promise<void>;
  /** It stands still: connections stay open, and nothing is answered. */
  freeze(): void;
  thaw(): void;
}

/** One that does not run yet; stop it when done, whatever state it is in. */
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

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { stringify } from "yaml";
import { compileCacheIn, nodeFlags, operatorBundle } from "../../../deploy/bundle/operator-bundle.ts";
import { until } from "../fixtures/until.ts";
import type { PlatformIdentity } from "./chart/platform-chart.ts";
import { programLog } from "./program-log.ts";

/** Bundle as in `make up` and the image. */
let bundle: Promise<string> | undefined;

/** The platform's real process, for any number of starts and kills. */
export interface PlatformProcess {
  /** Resolves when it serves, just before it reconciles. */
  start(): Promise<void>;
  /** Ends it with SIGKILL, without any clean-up. */
  kill(): Promise<void>;
  /** Ends it with SIGTERM; answers its exit code. */
  terminate(): Promise<number | null>;
  /** Suspends it (SIGSTOP), as on an overloaded machine, and resumes it (SIGCONT). */
  suspend(): void;
  resume(): void;
  /** Waits until it ends by itself; answers its exit code. */
  ended(): Promise<number | null>;
  /** Address of the REST API, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Address of the probes and metrics. */
  readonly probesUrl: string;
  /** Output of all runs, also in the test run's logs. */
  readonly output: string;
  stop(): Promise<void>;
}

/**
 * Prepares the process of `operator/main.ts` with these settings, under the platform's identity; by default without leader
 * election.
 */
export async function platformProcess(
  identity: Pick<PlatformIdentity, "kubeconfigPath">,
  settings: { readonly api?: object; readonly [name: string]: unknown },
): Promise<PlatformProcess> {
  bundle ??= operatorBundle();
  const main = await bundle;
  const folder = await mkdtemp(join(tmpdir(), "platform-process-"));
  const settingsFile = join(folder, "settings.yaml");
  // Default: free loopback ports, and no election, because no other process leads after a crash.
  const local = { probes: { port: 0 }, leaderElection: false, ...settings, api: { port: 0, ...settings.api } };
  await writeFile(settingsFile, stringify(local));
  // Kept until the next run begins: an ending process must not count as ended.
  let run: { readonly child: ChildProcess; readonly exited: Promise<number | null> } | undefined;
  const log = programLog(basename(folder));
  let output = "";
  let url = "";
  let probesUrl = "";
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    run?.child.kill(signal);
    return (await run?.exited) ?? null;
  };
  return {
    async start() {
      const begunAt = output.length;
      const env = {
        PATH: process.env.PATH,
        HOME: folder,
        KUBECONFIG: identity.kubeconfigPath,
        ...compileCacheIn(tmpdir()),
      };
      const started = spawn(process.execPath, [...nodeFlags, main, "--settings", settingsFile], {
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      // After all output has arrived.
      const exited = once(started, "close").then(([code, signal]) => {
        log(`ended ${code === null ? `by ${signal}` : `with ${code}`}\n`);
        return code;
      });
      run = { child: started, exited };
      for (const stream of [started.stdout, started.stderr]) {
        stream?.on("data", (chunk) => {
          output += String(chunk);
          log(String(chunk));
        });
      }
      const servingAt = () => {
        if (started.exitCode !== null) throw new Error(`the process ended: ${output.slice(begunAt)}`);
        const whole = output.slice(begunAt).split("\n").slice(0, -1);
        const line = whole.find((text) => text.includes('"message":"serving"'));
        return line === undefined ? undefined : (JSON.parse(line) as { readonly api: string; readonly probes: string });
      };
      const found = await until(servingAt, { what: "the process serving", deadlineMs: 60_000 });
      [url, probesUrl] = [found.api, found.probes];
    },
    async kill() {
      await end("SIGKILL");
    },
    terminate: () => end("SIGTERM"),
    suspend: () => void run?.child.kill("SIGSTOP"),
    resume: () => void run?.child.kill("SIGCONT"),
    ended: async () => (await run?.exited) ?? null,
    get url() {
      return url;
    },
    get probesUrl() {
      return probesUrl;
    },
    get output() {
      return output;
    },
    async stop() {
      await end("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

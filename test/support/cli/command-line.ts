import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildClients } from "../../../deploy/clients/build.ts";
import type { ServiceOptions } from "../http/api-service.ts";
import { type ApiService, type Person, startApiService } from "../http/api-service.ts";

export const eenvFile = resolve(import.meta.dirname, "../../../clients/cli/dist/eenv.mjs");

/** A command's exit code and output. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly written: { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

export interface CallOptions {
  readonly input?: string;
  /** Stdin stays open. */
  readonly keepsInput?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The command line with the REST interface on doubles, over HTTP; every call is a separate process. */
export interface CommandLine {
  readonly service: ApiService;
  readonly server: Server;
  readonly url: string;
  readonly home: string;
  /** Runs `eenv` as that person to its end. */
  eenv(person: Person, args: readonly string[], options?: CallOptions): Promise<Ended>;
  start(person: Person, args: readonly string[], options?: CallOptions): Promise<Running>;
  /** Starts any program with the same variables, without a log-in. */
  spawn(program: string, args: readonly string[], options?: CallOptions): Running;
  stop(): Promise<void>;
}

/** Starts the service; builds the command line if its sources have changed. */
export async function startCommandLine(options: ServiceOptions = {}): Promise<CommandLine> {
  await buildClients();
  const service = await startApiService(options);
  service.environments.holdFollowers();
  service.podLogs.holdFollowers();
  const server = createServer(service.app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await mkdtemp(join(tmpdir(), "eenv-"));
  const running = new Set<ChildProcess>();
  const base = { HOME: home, PATH: process.env.PATH, EENV_URL: url, TMPDIR: tmpdir() };

  function started(program: string, args: readonly string[], options: CallOptions = {}): Running {
    const { input = "", keepsInput = false, env = {} } = options;
    const child = spawn(program, args, { cwd: home, env: { ...base, ...env } });
    running.add(child);
    const written = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (part) => {
      written.stdout += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part) => {
      written.stderr += part;
    });
    child.stdin.on("error", () => undefined);
    if (!keepsInput) child.stdin.end(input);
    const ended = once(child, "close").then(([code]) => {
      running.delete(child);
      return { code, ...written };
    });
    return { child, written, ended };
  }

  async function start(person: Person, args: readonly string[], more: CallOptions = {}): Promise<Running> {
    const EENV_TOKEN = (await service.bearer(person)).replace("Bearer ", "");
    return started(process.execPath, [eenvFile, ...args], { ...more, env: { EENV_TOKEN, ...more.env } });
  }

  return {
    service,
    server,
    url,
    home,
    start,
    eenv: async (person, args, call) => (await start(person, args, call)).ended,
    spawn: started,
    async stop() {
      for (const child of running) child.kill("SIGKILL");
      service.stopping.abort();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await service.stop();
      await rm(home, { recursive: true });
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, run, withSystemPath } from "../build/run.ts";
import { waitUntil } from "../build/wait.ts";
import { USER } from "./base.ts";
import { config } from "./image.ts";

/** Options for starting a container of the image. */
export interface ContainerSpec {
  /** The root file system. Missing mount points are made in it. */
  readonly root: string;
  /** Default: the image's. */
  readonly entrypoint?: readonly string[];
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders of this machine, read-only, by their path in the container. */
  readonly folders?: Readonly<Record<string, string>>;
  /** True: this machine's network; otherwise an empty network of its own. */
  readonly hostNetwork?: boolean;
}

/** A running container. */
export interface Container {
  readonly output: string;
  /** Waits for the text in the output. Fails, with the output, at the container's end or the deadline. */
  untilWritten(text: string, deadlineMs: number): Promise<void>;
  readonly ended: Promise<number | null>;
  residentBytes(): Promise<number>;
  /** Ends the container with SIGTERM, then SIGKILL after the grace period, and removes it. */
  stop(): Promise<void>;
}

const GRACE_MS = 15_000;

/** The reason why this machine can't run a container of the image, or undefined. */
export function whyNoContainer(): string | undefined {
  if (process.getuid?.() !== 0) return "Running the image needs root.";
  return findProgram("runc") ? undefined : "Running the image needs runc (Debian's package runc).";
}

/**
 * Runs the image's root file system by runc, as the chart does: read-only, no capabilities, the image's user, an empty
 * `/tmp`. All output comes from the process itself.
 */
export async function startContainer(spec: ContainerSpec): Promise<Container> {
  const folder = await mkdtemp(join(tmpdir(), "image-container-"));
  const name = `image-${randomBytes(6).toString("hex")}`;
  const pidFile = join(folder, "pid");
  await mkdir(join(folder, "bundle"));
  await writeFile(join(folder, "bundle/config.json"), JSON.stringify(runtimeConfig(spec)));
  const runc = (...args: string[]) => ["--root", join(folder, "state"), ...args];
  const child = spawn("runc", runc("run", "--bundle", join(folder, "bundle"), "--pid-file", pidFile, name), {
    stdio: ["ignore", "pipe", "pipe"],
    env: withSystemPath(process.env),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  const ended = exitOf(child);
  return {
    get output() {
      return output;
    },
    async untilWritten(text, deadlineMs) {
      const giveUp = () => {
        if (child.exitCode !== null) throw new Error(`the container ended: ${output.slice(-2000)}`);
      };
      await waitUntil({ what: `"${text}" of the container`, check: () => output.includes(text), deadlineMs, giveUp });
    },
    ended,
    async residentBytes() {
      const status = await readFile(`/proc/${(await readFile(pidFile, "utf8")).trim()}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    },
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
      await ended;
      clearTimeout(late);
      await run("runc", runc("delete", "--force", name)).catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** https://github.com/opencontainers/runtime-spec/blob/main/config.md */
function runtimeConfig({ root, args, env = {}, folders = {}, ...spec }: ContainerSpec): object {
  const { entrypoint = config.Entrypoint, hostNetwork = false } = spec;
  const namespaces = ["pid", "ipc", "mount", "uts", ...(hostNetwork ? [] : ["network"])];
  const empty = (destination: string, ...options: readonly string[]) => ({
    destination,
    type: "tmpfs",
    source: "tmpfs",
    options: ["nosuid", "size=64m", ...options],
  });
  const bound = ([destination, source]: [string, string]) => ({
    destination,
    source,
    type: "bind",
    options: ["rbind", "ro"],
  });
  return {
    ociVersion: "1.0.2",
    process: {
      user: { uid: USER, gid: USER },
      args: [...entrypoint, ...args],
      env: [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: config.WorkingDir,
      noNewPrivileges: true,
      capabilities: {},
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      empty("/dev", "mode=755"),
      // Writable by everybody, as an emptyDir; a mounted file system takes the mode of the folder below it.
      empty("/tmp", "nodev", `uid=${USER}`, `gid=${USER}`),
      ...Object.entries(folders).map(bound),
    ],
    linux: { namespaces: namespaces.map((type) => ({ type })) },
  };
}

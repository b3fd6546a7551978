import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";
import { kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { freePorts } from "../fixtures/free-ports.ts";
import { type ControlPlane, startControlPlane } from "./own-control-plane.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../..");
/** A command calls kubectl and helm many times, which take seconds to start on a busy machine. */
export const COMMAND_DEADLINE_MS = 120_000;

/** An existing cluster, and a user's shell with its context. */
export interface ExistingCluster {
  readonly plane: ControlPlane;
  /** The commands' state folder. */
  readonly state: string;
  /** The platform's address once it runs. */
  readonly apiUrl: string;
  asAdministrator(...args: string[]): Promise<string>;
  writeSettings(name: string, more: object): Promise<string>;
  /** The administrator's kubeconfig, impersonating another user. */
  kubeconfigOf(user: string): Promise<string>;
  /** Folder and environment for a person's commands. */
  shell(more?: NodeJS.ProcessEnv): { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
  /** Runs a command as a person; answers its output and success. */
  make(command: string, more?: NodeJS.ProcessEnv): Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Ends the platform, if it runs, and removes the cluster and the folder. */
  stop(): Promise<void>;
}

/** A control plane without the platform. */
export async function existingCluster(): Promise<ExistingCluster> {
  const plane = await startControlPlane();
  const state = await mkdtemp(join(tmpdir(), "existing-cluster-"));
  const path = [dirname(plane.kubectl), dirname(await helmProgram()), process.env.PATH].join(delimiter);
  const [apiPort = 0, probesPort = 0] = await freePorts(2);

  async function writeSettings(name: string, more: object): Promise<string> {
    const defaultChart = { repoUrl: "http://127.0.0.1:9/chart.git", path: ".", revision: "main" };
    const file = join(state, name);
    await writeFile(file, JSON.stringify({ baseDomain: "env.localhost", defaultChart, ...more }));
    return file;
  }
  const settingsFile = await writeSettings("settings.yaml", { api: { port: apiPort }, probes: { port: probesPort } });

  function shell(more: NodeJS.ProcessEnv = {}) {
    const given = { CLUSTER: "existing", YES: "1", KUBECONFIG: plane.kubeconfigPath, SETTINGS: settingsFile };
    return { cwd: checkout, env: { ...process.env, PATH: path, STATE_FOLDER: state, ...given, ...more } };
  }
  async function make(command: string, more: NodeJS.ProcessEnv = {}) {
    const options = { ...shell(more), timeout: COMMAND_DEADLINE_MS };
    const outcome = execute(process.execPath, ["deploy/local/main.ts", command], options);
    return outcome.then(
      ({ stdout, stderr }) => ({ ok: true, output: stdout + stderr }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ ok: false, output: stdout + stderr }),
    );
  }
  return {
    plane,
    state,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    writeSettings,
    shell,
    make,
    asAdministrator: (...args) => kubectl({ kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath }, args),
    async kubeconfigOf(name) {
      const file = join(state, `${name}.kubeconfig`);
      const config = JSON.parse(await readFile(plane.kubeconfigPath, "utf8")) as {
        users: object[];
      };
      const [admin] = config.users;
      const user = { token: plane.adminToken, as: name };
      await writeFile(file, JSON.stringify({ ...config, users: [{ ...admin, user }] }));
      return file;
    },
    async stop() {
      await make("down");
      await plane.stop();
      await rm(state, { recursive: true });
    },
  };
}

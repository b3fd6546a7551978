import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";
import { kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { recordedProcesses } from "../../../deploy/local/processes/process.ts";
import { until } from "../../support/fixtures/until.ts";
import { freePorts } from "../../support/plane/free-ports.ts";
import { type ControlPlane, startControlPlane } from "../../support/plane/own-control-plane.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../..");
const example = (name: string) => join(checkout, "deploy/examples", `${name}.yaml`);
const uidLabel = "ephemeral-environments.dev/environment-uid";

describe("the platform for an existing cluster", () => {
  let plane: ControlPlane;
  let state: string;
  let settingsFile: string;
  let apiUrl: string;
  let path: string;

  beforeAll(async () => {
    plane = await startControlPlane();
    state = await mkdtemp(join(tmpdir(), "existing-cluster-"));
    path = [dirname(plane.kubectl), dirname(await helmProgram()), process.env.PATH].join(delimiter);
    const [apiPort = 0, probesPort = 0] = await freePorts(2);
    apiUrl = `http://127.0.0.1:${apiPort}`;
    settingsFile = await writeSettings("settings.yaml", { api: { port: apiPort }, probes: { port: probesPort } });
  }, 180_000);

  afterAll(async () => {
    await make("down");
    await plane.stop();
    await rm(state, { recursive: true });
  }, 60_000);

  async function writeSettings(name: string, more: object): Promise<string> {
    const defaultChart = { repoUrl: "http://127.0.0.1:9/chart.git", path: ".", revision: "main" };
    const file = join(state, name);
    await writeFile(file, JSON.stringify({ baseDomain: "env.localhost", defaultChart, ...more }));
    return file;
  }

  /** Where a person calls commands. */
  function shell(more: NodeJS.ProcessEnv = {}) {
    const given = { CLUSTER: "existing", KUBECONFIG: plane.kubeconfigPath, SETTINGS: settingsFile };
    return { cwd: checkout, env: { ...process.env, PATH: path, STATE_FOLDER: state, ...given, ...more } };
  }

  /** The command as a person calls it; answers all that it printed, and whether it succeeded. */
  async function make(command: string, more: NodeJS.ProcessEnv = {}): Promise<{ ok: boolean; output: string }> {
    const options = { ...shell(more), timeout: 60_000 };
    const outcome = execute(process.execPath, ["deploy/local/main.ts", command], options);
    return outcome.then(
      ({ stdout, stderr }) => ({ ok: true, output: stdout + stderr }),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ ok: false, output: stdout + stderr }),
    );
  }

  const asAdministrator = (...args: string[]) =>
    kubectl({ kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath }, args);

  test("is refused where Argo CD has no namespace, and nothing is written there", async () => {
    const { ok, output } = await make("up");
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringContaining("deployer.namespace") });
    expect(await asAdministrator("get", "namespaces", "--output=name")).not.toContain("ephemeral");
    expect(await asAdministrator("get", "crds", "--output=name")).not.toContain("ephemeral");
  }, 60_000);

  test("is refused to those who are no administrators", async () => {
    const kubeconfig = join(state, "nobody.kubeconfig");
    const config = JSON.parse(await readFile(plane.kubeconfigPath, "utf8")) as { users: object[] };
    const [admin] = config.users;
    const as = { token: plane.adminToken, as: "nobody" };
    await writeFile(kubeconfig, JSON.stringify({ ...config, users: [{ ...admin, user: as }] }));
    const { ok, output } = await make("up", { KUBECONFIG: kubeconfig });
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringContaining("is no administrator of") });
  }, 60_000);

  describe("that runs", () => {
    let kubeconfigBefore: string;

    beforeAll(async () => {
      kubeconfigBefore = await readFile(plane.kubeconfigPath, "utf8");
      await asAdministrator("create", "namespace", "argocd");
      const account = "argocd-application-controller";
      await asAdministrator("create", "serviceaccount", account, "--namespace=argocd");
      const { ok, output } = await make("up");
      expect({ ok, output }).toEqual({
        ok: true,
        output: expect.stringContaining("The platform runs on this machine"),
      });
    }, 60_000);

    test("is who the chart says, by a kubeconfig for its owner's eyes alone", async () => {
      const operator = join(state, "existing/operator.kubeconfig");
      const tokenFile = join(state, "existing/platform-token");
      const self = await asAdministrator("auth", "whoami", "--token", await readFile(tokenFile, "utf8"));
      expect(self).toContain("system:serviceaccount:ephemeral-system:platform");
      for (const file of [operator, tokenFile, join(state, "env")]) {
        expect((await stat(file)).mode & 0o777).toBe(0o600);
      }
      const { users } = JSON.parse(await readFile(operator, "utf8")) as { users: object[] };
      expect(users).toEqual([
        { name: "platform", user: { "auth-provider": { name: "tokenFile", config: { tokenFile } } } },
      ]);
      expect(JSON.stringify(users)).not.toContain(plane.adminToken);
      expect(await readFile(plane.kubeconfigPath, "utf8")).toBe(kubeconfigBefore);
    });

    test("tells a shell where it is", async () => {
      const { stdout } = await execute("bash", [
        "-c",
        `source '${state}/env'; echo $API_URL; $KUBECTL get namespace argocd --output=name`,
      ]);
      expect(stdout).toBe(`${apiUrl}\nnamespace/argocd\n`);
      expect((await fetch(`${apiUrl}/api/health`, { signal: AbortSignal.timeout(5_000) })).status).toBe(200);
    });

    test("acts on the examples: an environment gets its namespace", async () => {
      const examples = ["repository-backend", "repository-frontend", "environment"].map(example);
      await asAdministrator("apply", ...examples.map((file) => `--filename=${file}`));
      const uid = await asAdministrator("get", "eenv", "hello", "--output=jsonpath={.metadata.uid}");
      const namespace = ["get", "namespace", "env-hello", "--ignore-not-found", "--output=json"];
      const check = async () => {
        const found = await asAdministrator(...namespace);
        return found !== "" && JSON.parse(found).metadata.labels[uidLabel] === uid;
      };
      await until(check, { what: "the namespace of the environment", deadlineMs: 30_000 });
      // Only the platform may set that label, so the namespace was made under its identity.
      const foreign = asAdministrator("label", "namespace", "argocd", `${uidLabel}=${uid}`);
      await expect(foreign).rejects.toThrow("denied");
    }, 60_000);

    test("stays as it is when it is started again, and is listed", async () => {
      const before = await recordedProcesses(join(state, "existing"));
      expect(before.map(({ name }) => name)).toEqual(["platform-token", "operator", "supervisor"]);
      expect(await make("up")).toMatchObject({ ok: true });
      // The supervisor alone is another one: it stands back while something is started.
      const after = await recordedProcesses(join(state, "existing"));
      expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
      expect(after.map(({ name }) => name)).toEqual(["platform-token", "operator", "supervisor"]);
      const { output } = await make("status");
      for (const { name, pid } of after) expect(output).toMatch(new RegExp(`running +${pid} +${name}`));
    }, 60_000);

    test("is not left running for something else than what is asked for", async () => {
      const other = await writeSettings("other.yaml", { api: { port: 1 } });
      const { ok, output } = await make("up", { SETTINGS: other });
      expect({ ok, output }).toEqual({
        ok: false,
        output: expect.stringContaining(
          'The platform runs here with other settings; stop it with "CLUSTER=existing make down" first.',
        ),
      });
    }, 60_000);

    test("leaves nothing on the machine when it is stopped, and everything in the cluster", async () => {
      const { ok, output } = await make("down");
      expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining("kubectl delete") });
      expect(await recordedProcesses(join(state, "existing"))).toEqual([]);
      await expect(fetch(`${apiUrl}/api/health`, { signal: AbortSignal.timeout(5_000) })).rejects.toThrow();
      await expect(stat(join(state, "existing/platform-token"))).rejects.toThrow("ENOENT");
      expect(await asAdministrator("get", "eenv", "hello", "--output=name")).toContain("hello");
      expect((await make("status")).output).toContain("Nothing runs");
    }, 60_000);

    test("is removed from the cluster, to the end, by what it was told then", async () => {
      const { output } = await make("down");
      const told = output.match(/^ {2}\S.*$/gm) ?? [];
      const script = [`make() { '${process.execPath}' deploy/local/main.ts "$@"; }`, ...told].join("\n");
      await execute("bash", ["-ec", script], { ...shell(), timeout: 160_000 });
      const kinds = "namespaces,crds,validatingadmissionpolicies,clusterroles";
      const left = await asAdministrator("get", kinds, "--output=name");
      expect(left).not.toMatch(/ephemeral-environment|^namespace\/(ephemeral|env)-/m);
      expect(await recordedProcesses(join(state, "existing"))).toEqual([]);
    }, 180_000);
  });
});

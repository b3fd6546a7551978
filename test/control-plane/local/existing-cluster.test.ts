import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { recordedProcesses } from "../../../deploy/local/processes/process.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMAND_DEADLINE_MS, type ExistingCluster, existingCluster } from "../../support/plane/existing-cluster.ts";

const execute = promisify(execFile);
const example = (name: string) => resolve(import.meta.dirname, "../../../deploy/examples", `${name}.yaml`);
const TEST_MS = 150_000;
const uidLabel = "ephemeral-environments.dev/environment-uid";

describe("the platform for an existing cluster", () => {
  let cluster: ExistingCluster;
  beforeAll(async () => {
    cluster = await existingCluster();
  }, 180_000);
  afterAll(() => cluster.stop(), TEST_MS);

  const contextName = () => cluster.asAdministrator("config", "current-context").then((name) => name.trim());

  async function expectNothingWritten(): Promise<void> {
    expect(await cluster.asAdministrator("get", "namespaces,crds", "--output=name")).not.toContain("ephemeral");
  }

  test(
    "is left alone where no person can confirm its name, and the next step is named",
    async () => {
      const { ok, output } = await cluster.make("up", { YES: "" });
      expect({ ok, output }).toEqual({ ok: false, output: expect.stringContaining("confirm with YES=1 make up") });
      expect(output).toContain(`"${await contextName()}"`);
      await expectNothingWritten();
    },
    TEST_MS,
  );

  test(
    "is left alone when another name is typed on a terminal",
    async () => {
      const command = `echo other | script --quiet --return --command '${process.execPath} deploy/local/main.ts up' /dev/null`;
      const outcome = execute("bash", ["-c", command], { ...cluster.shell({ YES: "" }), timeout: COMMAND_DEADLINE_MS });
      await expect(outcome).rejects.toMatchObject({
        stdout: expect.stringMatching(/Type the name of the context.*Nothing was done: "other" is not the name/s),
      });
      await expectNothingWritten();
    },
    TEST_MS,
  );

  test(
    "is checked as soon as its name is typed on a terminal, and all that it lacks is named at once",
    async () => {
      const launch = `${process.execPath} deploy/local/main.ts up`;
      const command = `echo '${await contextName()}' | script --quiet --return --command '${launch}' /dev/null`;
      const outcome = execute("bash", ["-c", command], { ...cluster.shell({ YES: "" }), timeout: COMMAND_DEADLINE_MS });
      await expect(outcome).rejects.toMatchObject({
        stdout: expect.stringMatching(/deployer\.namespace.*no IngressClass and no GatewayClass/s),
      });
      await expectNothingWritten();
    },
    TEST_MS,
  );

  test(
    "is refused to those who are no administrators, with every right that they lack",
    async () => {
      const { ok, output } = await cluster.make("up", { KUBECONFIG: await cluster.kubeconfigOf("outsider") });
      expect(ok).toBe(false);
      for (const lacking of [
        "Your user may not create, patch customresourcedefinitions.apiextensions.k8s.io.",
        "Your user may not create, patch, escalate, bind clusterroles.rbac.authorization.k8s.io.",
        "Your user may not create serviceaccounts/token in the namespace ephemeral-system.",
      ]) {
        expect(output).toContain(lacking);
      }
      await expectNothingWritten();
    },
    TEST_MS,
  );

  async function ingressClass(): Promise<string> {
    const file = join(cluster.state, "ingress-class.json");
    const spec = { controller: "example.com/ingress" };
    const metadata = { name: "any" };
    const object = { apiVersion: "networking.k8s.io/v1", kind: "IngressClass", metadata, spec };
    await writeFile(file, JSON.stringify(object));
    return file;
  }

  describe("that runs", () => {
    let kubeconfigBefore: string;

    beforeAll(async () => {
      kubeconfigBefore = await readFile(cluster.plane.kubeconfigPath, "utf8");
      await cluster.asAdministrator("create", "namespace", "argocd");
      const account = "argocd-application-controller";
      await cluster.asAdministrator("create", "serviceaccount", account, "--namespace=argocd");
      await cluster.asAdministrator("apply", `--filename=${await ingressClass()}`);
      const { ok, output } = await cluster.make("up");
      expect({ ok, output }).toEqual({
        ok: true,
        output: expect.stringContaining("The platform runs on this machine"),
      });
    }, TEST_MS);

    test("is who the chart says, by a kubeconfig for its owner's eyes alone", async () => {
      const operator = join(cluster.state, "existing/operator.kubeconfig");
      const tokenFile = join(cluster.state, "existing/platform-token");
      const self = await cluster.asAdministrator("auth", "whoami", "--token", await readFile(tokenFile, "utf8"));
      expect(self).toContain("system:serviceaccount:ephemeral-system:platform");
      for (const file of [operator, tokenFile, join(cluster.state, "env")]) {
        expect((await stat(file)).mode & 0o777).toBe(0o600);
      }
      const { users } = JSON.parse(await readFile(operator, "utf8")) as { users: object[] };
      expect(users).toEqual([
        { name: "platform", user: { "auth-provider": { name: "tokenFile", config: { tokenFile } } } },
      ]);
      expect(JSON.stringify(users)).not.toContain(cluster.plane.adminToken);
      expect(await readFile(cluster.plane.kubeconfigPath, "utf8")).toBe(kubeconfigBefore);
    });

    test("gives a shell its address", async () => {
      const { stdout } = await execute("bash", [
        "-c",
        `source '${cluster.state}/env'; echo $API_URL; $KUBECTL get namespace argocd --output=name`,
      ]);
      expect(stdout).toBe(`${cluster.apiUrl}\nnamespace/argocd\n`);
      expect((await fetch(`${cluster.apiUrl}/api/health`, { signal: AbortSignal.timeout(5_000) })).status).toBe(200);
    });

    test(
      "acts on the examples: an environment gets its namespace",
      async () => {
        const examples = ["repository-backend", "repository-frontend", "environment"].map(example);
        await cluster.asAdministrator("apply", ...examples.map((file) => `--filename=${file}`));
        const uid = await cluster.asAdministrator("get", "eenv", "hello", "--output=jsonpath={.metadata.uid}");
        const namespace = ["get", "namespace", "env-hello", "--ignore-not-found", "--output=json"];
        const check = async () => {
          const found = await cluster.asAdministrator(...namespace);
          return found !== "" && JSON.parse(found).metadata.labels[uidLabel] === uid;
        };
        await until(check, { what: "the namespace of the environment", deadlineMs: 30_000 });
        // Only the platform may set that label, so its identity created the namespace.
        const foreign = cluster.asAdministrator("label", "namespace", "argocd", `${uidLabel}=${uid}`);
        await expect(foreign).rejects.toThrow("denied");
      },
      TEST_MS,
    );

    test(
      "stays as it is when it is started again, and is listed",
      async () => {
        const before = await recordedProcesses(join(cluster.state, "existing"));
        expect(before.map(({ name }) => name)).toEqual(["platform-token", "operator", "supervisor"]);
        expect(await cluster.make("up")).toMatchObject({ ok: true });
        // Only the supervisor is a new process: a start replaces it.
        const after = await recordedProcesses(join(cluster.state, "existing"));
        expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
        expect(after.map(({ name }) => name)).toEqual(["platform-token", "operator", "supervisor"]);
        const { output } = await cluster.make("status");
        for (const { name, pid } of after) expect(output).toMatch(new RegExp(`running +${pid} +${name}`));
      },
      TEST_MS,
    );

    test(
      "is not left running for something else than what is asked for",
      async () => {
        const other = await cluster.writeSettings("other.yaml", { api: { port: 1 } });
        const { ok, output } = await cluster.make("up", { SETTINGS: other });
        expect({ ok, output }).toEqual({
          ok: false,
          output: expect.stringContaining(
            'The platform runs here with other settings; stop it with "CLUSTER=existing make down" first.',
          ),
        });
      },
      TEST_MS,
    );

    test(
      "leaves nothing on the machine when it is stopped, and everything in the cluster",
      async () => {
        const { ok, output } = await cluster.make("down");
        expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining("kubectl delete") });
        expect(await recordedProcesses(join(cluster.state, "existing"))).toEqual([]);
        await expect(fetch(`${cluster.apiUrl}/api/health`, { signal: AbortSignal.timeout(5_000) })).rejects.toThrow();
        await expect(stat(join(cluster.state, "existing/platform-token"))).rejects.toThrow("ENOENT");
        expect(await cluster.asAdministrator("get", "eenv", "hello", "--output=name")).toContain("hello");
        expect((await cluster.make("status")).output).toContain("Nothing runs");
      },
      TEST_MS,
    );

    test("is removed from the cluster, to the end, by the printed command", async () => {
      const { output } = await cluster.make("down");
      const reported = output.match(/^ {2}\S.*$/gm) ?? [];
      const script = [`make() { '${process.execPath}' deploy/local/main.ts "$@"; }`, ...reported].join("\n");
      await execute("bash", ["-ec", script], { ...cluster.shell(), timeout: 160_000 });
      const kinds = "namespaces,crds,validatingadmissionpolicies,clusterroles";
      const left = await cluster.asAdministrator("get", kinds, "--output=name");
      expect(left).not.toMatch(/ephemeral-environment|^namespace\/(ephemeral|env)-/m);
      expect(await recordedProcesses(join(cluster.state, "existing"))).toEqual([]);
    }, 180_000);
  });
});

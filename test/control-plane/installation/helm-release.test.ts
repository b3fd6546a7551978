import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { run } from "../../../deploy/build/run.ts";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";
import { kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { type ControlPlane, startControlPlane } from "../../support/plane/own-control-plane.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const current = join(root, "deploy/charts/platform");
const definition = "crd/ephemeralenvironments.ephemeral-environments.dev";
const values = {
  settings: {
    baseDomain: "env.example.test",
    defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
  },
  // No kubelet runs here: neither its pods nor the Job of the check would ever start.
  operator: { enabled: false },
};

describe("a release of the platform's chart", () => {
  let plane: ControlPlane;
  let helm: string;
  let folder: string;
  let older: string;
  let before: string;

  beforeAll(async () => {
    helm = await helmProgram();
    plane = await startControlPlane();
    folder = await mkdtemp(join(tmpdir(), "helm-release-"));
    older = await olderChart();
    await writeFile(join(folder, "values.json"), JSON.stringify(values));
    await asAdministrator("create", "namespace", "argocd");
    await asAdministrator("create", "serviceaccount", "argocd-application-controller", "--namespace=argocd");
    await release("install", older, "--create-namespace");
    await asAdministrator("apply", `--filename=${join(root, "deploy/examples/environment.yaml")}`);
    before = await environment();
  }, 180_000);

  afterAll(async () => {
    await plane.stop();
    await rm(folder, { recursive: true });
  }, 60_000);

  /** A chart of an earlier release: its definition has less, a role more, and its values lack two blocks of today. */
  async function olderChart(): Promise<string> {
    const chart = join(folder, "older");
    await cp(current, chart, { recursive: true });
    const file = join(chart, "definitions/ephemeralenvironments.yaml");
    const manifest = parse(await readFile(file, "utf8"));
    delete manifest.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.usage;
    await writeFile(file, stringify(manifest, { compat: "yaml-1.1" }));
    const defaults = parse(await readFile(join(chart, "values.yaml"), "utf8"));
    await writeFile(join(chart, "values.yaml"), stringify({ ...defaults, gate: undefined, flowControl: undefined }));
    const role = join(chart, "templates/rbac/environment.yaml");
    await writeFile(
      role,
      (await readFile(role, "utf8")).replace("[get, list, create, delete]", "[get, list, create, delete, patch]"),
    );
    return chart;
  }

  const asAdministrator = (...args: string[]) =>
    kubectl({ kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath }, args);

  function release(command: string, ...args: readonly string[]): Promise<string> {
    const hasValues = ["uninstall", "rollback"].includes(command) || args.includes("--reuse-values");
    const given = hasValues ? [] : ["--values", join(folder, "values.json")];
    const where = ["--namespace", "ephemeral-system", "--kubeconfig", plane.kubeconfigPath];
    return run(helm, [command, "platform", ...args, ...given, ...where]);
  }

  /** The stored environment: any write changes it. */
  const environment = () =>
    asAdministrator("get", "eenv", "hello", "--output=jsonpath={.metadata.uid} {.metadata.resourceVersion}");
  const hasUsage = async () =>
    (await asAdministrator("get", definition, "--output=jsonpath={.spec.versions[0].schema}")).includes('"usage"');
  const storedVersions = () => asAdministrator("get", definition, "--output=jsonpath={.status.storedVersions}");
  const verbs = () =>
    asAdministrator("get", "clusterrole/ephemeral-environment", "--output=jsonpath={.rules[0].verbs}");

  test("is upgraded with its kinds, and no environment is touched", async () => {
    expect(await hasUsage()).toBe(false);
    await release("upgrade", current);
    expect(await hasUsage()).toBe(true);
    expect(await verbs()).toBe('["get","list","create","delete"]');
    expect(await storedVersions()).toBe('["v1"]');
    expect(await environment()).toBe(before);
  }, 60_000);

  test("is upgraded to the same without a write", async () => {
    const kinds = "clusterroles,validatingadmissionpolicies,flowschemas,crds,roles,configmaps,serviceaccounts";
    const versions = () =>
      asAdministrator(
        "get",
        kinds,
        "--namespace=ephemeral-system",
        "--selector=app.kubernetes.io/instance=platform",
        "--output=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}\n{end}",
      );
    const stored = await versions();
    expect(stored.trim().split("\n").length).toBeGreaterThan(30);
    await release("upgrade", current);
    expect(await versions()).toBe(stored);
  }, 60_000);

  test("names the other writer of its fields, and changes them only on request", async () => {
    const kind = "priorityLevelconfiguration/ephemeral-platform";
    const patch = '{"spec":{"limited":{"nominalConcurrencyShares":33}}}';
    await asAdministrator("patch", kind, "--type=merge", `--patch=${patch}`, "--field-manager=another");
    await expect(release("upgrade", current, "--set=flowControl.shares=40")).rejects.toThrow(/conflict.*another/s);
    await release("upgrade", current, "--set=flowControl.shares=40", "--force-conflicts");
    const shares = await asAdministrator("get", kind, "--output=jsonpath={.spec.limited.nominalConcurrencyShares}");
    expect(shares).toBe("40");
  }, 60_000);

  test("is rolled back, and no environment is touched", async () => {
    await release("rollback", "1", "--force-conflicts");
    expect(await hasUsage()).toBe(false);
    expect(await verbs()).toContain("patch");
    expect(await environment()).toBe(before);
  }, 60_000);

  test("is upgraded with the values of the release before, which lack blocks of this one", async () => {
    await release("upgrade", current, "--reuse-values");
    expect(await hasUsage()).toBe(true);
    const shares = "--output=jsonpath={.spec.limited.nominalConcurrencyShares}";
    expect(await asAdministrator("get", "priorityLevelconfiguration/ephemeral-platform", shares)).toBe("20");
    expect(await environment()).toBe(before);
    // The chart's additions do not become values of the user.
    const where = ["--namespace", "ephemeral-system", "--kubeconfig", plane.kubeconfigPath];
    expect(parse(await run(helm, ["get", "values", "platform", "--output=yaml", ...where]))).toEqual(values);
  }, 60_000);

  test("leaves its kinds, the values of secrets and all environments when it is uninstalled, and takes them on again", async () => {
    await release("uninstall");
    const left = await asAdministrator(
      "get",
      "crds,namespaces,clusterroles,validatingadmissionpolicies,flowschemas",
      "--selector=app.kubernetes.io/instance=platform",
      "--output=name",
    );
    const lines = left.trim().split("\n").sort();
    expect(lines.filter((line) => line.startsWith("customresourcedefinition"))).toHaveLength(7);
    expect(lines.filter((line) => !line.startsWith("customresourcedefinition"))).toEqual([
      "namespace/ephemeral-secrets",
    ]);
    expect(await environment()).toBe(before);
    await release("install", current);
    expect(await hasUsage()).toBe(true);
    expect(await environment()).toBe(before);
  }, 60_000);
});

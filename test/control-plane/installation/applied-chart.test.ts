import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { run } from "../../../deploy/build/run.ts";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";
import { kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { type ControlPlane, startControlPlane } from "../../support/plane/own-control-plane.ts";
import { values } from "../../unit/deploy/charts/rendered-platform.ts";

const chart = fileURLToPath(new URL("../../../deploy/charts/platform", import.meta.url));
const namespace = "ephemeral-system";
const other = `image.digest=sha256:${"0123456789abcdef".repeat(4)}`;

describe("the platform's chart with helm template and kubectl apply", () => {
  let plane: ControlPlane;
  let helm: string;
  let folder: string;

  beforeAll(async () => {
    helm = await helmProgram();
    plane = await startControlPlane();
    folder = await mkdtemp(join(tmpdir(), "applied-chart-"));
    await writeFile(join(folder, "values.json"), JSON.stringify(values({ createNamespace: true })));
    await asAdministrator(["create", "namespace", "argocd"]);
  }, 180_000);

  afterAll(async () => {
    await plane.stop();
    await rm(folder, { recursive: true });
  }, 60_000);

  const asAdministrator = (args: string[], input?: string) =>
    kubectl({ kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath }, args, input === undefined ? {} : { input });

  async function apply(...given: readonly string[]): Promise<void> {
    const where = ["--namespace", namespace, "--values", join(folder, "values.json")];
    const objects = await run(helm, ["template", "platform", chart, ...where, ...given]);
    await asAdministrator(["apply", "--filename=-"], objects);
  }

  /** The images of the Jobs that check the release, in their order. */
  async function checked(): Promise<string[]> {
    const form = "{range .items[*]}{.metadata.name} {.spec.template.spec.containers[0].image}\n{end}";
    const lines = await asAdministrator(["get", "jobs", `--namespace=${namespace}`, `--output=jsonpath=${form}`]);
    const jobs = lines.split("\n").filter((line) => line.startsWith("platform-check-"));
    return jobs.map((line) => line.split(" ")[1] ?? "").sort();
  }

  test("is written, with the Job of the check", async () => {
    await apply();
    expect(await checked()).toEqual(["registry.example.test/platform:0.1.0"]);
  }, 60_000);

  test("is written again, without another check", async () => {
    await apply();
    expect(await checked()).toHaveLength(1);
  }, 60_000);

  test("is written with another image, which is checked, too", async () => {
    await apply("--set", other);
    expect(await checked()).toEqual([
      "registry.example.test/platform:0.1.0",
      expect.stringMatching(/^registry\.example\.test\/platform@sha256:/),
    ]);
  }, 60_000);
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { run } from "../../../deploy/build/run.ts";
import { sourceOf } from "../../../deploy/local/builds/build.ts";
import type { Manifest } from "../../../deploy/local/kubernetes/api-client.ts";
import { renderChart } from "../../../deploy/local/kubernetes/helm.ts";
import { kubectl } from "../../../deploy/local/kubernetes/kubectl.ts";
import { platformValues } from "../../support/charts/platform-values.ts";
import { chartPrograms } from "../../support/charts/programs.ts";
import { schemaLocation, writeSchemas } from "../../support/charts/schemas.ts";
import { environmentValues, renderEnvironment } from "../../support/fixtures/environment/environment-values.ts";
import { until } from "../../support/fixtures/until.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";
import { values as applicationValues } from "../../unit/deploy/charts/rendered-environment.ts";

const plane = await controlPlane();
const admin = administrator(plane);
const examples = fileURLToPath(new URL("../../../deploy/examples", import.meta.url));
/** Kinds of the Prometheus operator, which no test installs. */
const elsewhere = ["PodMonitor", "ServiceMonitor", "PrometheusRule"];
const namespace = "ephemeral-system";
const user = { kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath };
/** The module whose go.mod names the Gateway API's. */
const traefik = fileURLToPath(new URL("../../../deploy/local/programs/traefik", import.meta.url));

describe("what the charts become", () => {
  let folder: string;
  let schemas: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rendered-charts-"));
    schemas = join(folder, "schemas");
    await applyHttpRoutes();
    for (const name of ["vault", "cd"]) await given(admin, paths.namespaces, { metadata: { name } });
    await given(callsAs(plane, { token: plane.platform.token }), paths.namespaces, namespaceObject("env-shop"));
    await writeSchemas(plane, { folder: schemas, last: "gateway.networking.k8s.io" });
    await chartPrograms();
  }, 30 * 60_000);

  afterAll(() => rm(folder, { recursive: true }));

  /** The kind HTTPRoute as the Gateway API defines it. */
  async function applyHttpRoutes(): Promise<void> {
    const source = await sourceOf("sigs.k8s.io/gateway-api", traefik);
    const file = join(source, "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml");
    await kubectl(user, ["apply", "--server-side", `--filename=${file}`]);
    await kubectl(user, ["wait", "--for=condition=Established", "crd/httproutes.gateway.networking.k8s.io"]);
  }

  async function written(objects: readonly Manifest[]): Promise<string> {
    const file = join(folder, `${crypto.randomUUID()}.json`);
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    return file;
  }

  /** Violations in the files, by the schemas of this API server. */
  async function conform(...files: readonly string[]): Promise<void> {
    const { kubeconform } = await chartPrograms();
    const how = ["-strict", "-summary", "-schema-location", schemaLocation(schemas), "-skip", elsewhere.join(",")];
    const report = await run(kubeconform, [...how, ...files]);
    expect(report).toMatch(/Invalid: 0, Errors: 0/);
  }

  const platform = (values: object) => renderChart({ chart: "platform", release: "platform", namespace, values });

  describe.each(Object.keys(platformValues))("the platform with %s", (name) => {
    let objects: Manifest[];

    beforeAll(async () => {
      objects = await platform(platformValues[name] ?? {});
    });

    test("conforms to the schemas of all kinds", async () => {
      await conform(await written(objects));
    });

    test("is taken by the API server", async () => {
      const file = await written(objects.filter(({ kind }) => !elsewhere.includes(kind)));
      const reply = await kubectl(user, ["apply", "--dry-run=server", `--filename=${file}`]);
      const answered = reply.trim().split("\n");
      expect(answered).toHaveLength(objects.filter(({ kind }) => !elsewhere.includes(kind)).length);
      for (const line of answered) expect(line).toMatch(/(created|configured|unchanged) \(server dry run\)$/);
    }, 60_000);
  });

  test("pods of the platform are taken where Pod Security is restricted", async () => {
    const objects = await platform(platformValues["everything on"] ?? {});
    await admin.patch(`${paths.namespaces}/${namespace}`, {
      metadata: { labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
    const pods = objects.flatMap(podOf);
    expect(pods).toHaveLength(5);
    for (const { metadata, spec } of pods) {
      const pod = { metadata: { ...metadata, name: "any" }, spec };
      const reply = await admin.create(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
      expect(reply).toMatchObject({ status: 201 });
    }
    const [{ spec } = { spec: {} }] = pods;
    const rooted = { metadata: { name: "any" }, spec: { ...spec, securityContext: { runAsUser: 0 } } };
    const refused = await admin.create(`/api/v1/namespaces/${namespace}/pods?dryRun=All`, rooted);
    expect(refused).toMatchObject({ status: 403, message: expect.stringContaining("PodSecurity") });
  });

  describe.each([
    [
      "Ingresses and a database",
      { database: { image: "postgres:18", sizeGi: 2, user: "app", name: "app" } },
      "admitted",
      undefined,
    ],
    [
      "HTTPRoutes",
      { gateway: { parentRefs: [{ name: "environments", namespace: "gateways" }] } },
      "refused unless its Gateway is allowed",
      /environments\.gateways/,
    ],
    [
      "certificates of cert-manager",
      { ingress: { clusterIssuer: "acme" } },
      "refused unless its annotation is allowed",
      /cert-manager.io\/cluster-issuer/,
    ],
  ])("the application of an environment with %s", (_, more, outcome, refusal) => {
    let file: string;

    beforeAll(async () => {
      file = await written(await renderEnvironment("shop", { ...applicationValues, ...more }));
    });

    test("conforms to the schemas of all kinds", async () => {
      await conform(file);
    });

    test(`is ${outcome} by the policies`, async () => {
      const applied = kubectl(user, ["apply", "--dry-run=server", "--namespace=env-shop", `--filename=${file}`]);
      if (refusal === undefined) expect(await applied).toMatch(/backend created/);
      else await expect(applied).rejects.toThrow(refusal);
    });
  });

  test("the application of an environment is admitted with HTTPRoutes and certificates where the values allow them", async () => {
    const place = "env-allowed";
    await given(admin, paths.namespaces, { metadata: { name: place } });
    const environments = {
      gateways: ["gateways/environments"],
      ingressAnnotations: ["traefik.ingress.kubernetes.io/router.tls", "cert-manager.io/cluster-issuer"],
    };
    const names = ["environment-pods", "environment-ingress", "environment-http-route"];
    const copies = await copiedPolicies(admin, { names, namespace: place, environments });
    try {
      const routes = `/apis/gateway.networking.k8s.io/v1/namespaces/${place}/httproutes?dryRun=All`;
      const nobodys = { apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: { name: "any" } };
      const holds = async () => (await admin.create(routes, { ...nobodys, spec: {} })).status === 403;
      await until(holds, { what: "the copied policies to hold", deadlineMs: 20_000 });
      for (const more of [
        { gateway: { parentRefs: [{ name: "environments", namespace: "gateways" }] } },
        { ingress: { clusterIssuer: "acme" } },
      ]) {
        const file = await written(await renderEnvironment("allowed", { ...environmentValues("allowed"), ...more }));
        const applied = kubectl(user, ["apply", "--dry-run=server", `--namespace=${place}`, `--filename=${file}`]);
        expect(await applied).toMatch(/backend created/);
      }
    } finally {
      await copies.remove();
      await admin.delete(`${paths.namespaces}/${place}`);
    }
  }, 60_000);

  test("the examples conform to our own definitions", async () => {
    const names = ["environment", "environment-secrets", "repository-backend", "repository-frontend", "config-set"];
    await conform(...names.map((name) => join(examples, `${name}.yaml`)));
  });

  test("a violation is reported", async () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, date: {} };
    await expect(conform(await written([object as unknown as Manifest]))).rejects.toThrow(/date/);
    const environment = { apiVersion: "ephemeral-environments.dev/v1", kind: "EphemeralEnvironment" };
    const wrong = { ...environment, metadata: { name: "a" }, spec: { ttlHours: "a day" } } as unknown as Manifest;
    await expect(conform(await written([wrong]))).rejects.toThrow(/ttlHours/);
  });
});

interface Pod {
  readonly metadata: object;
  readonly spec: object;
}

function podOf(object: Manifest): Pod[] {
  if (object.kind === "Pod") return [object as unknown as Pod];
  const { template } = (object.spec ?? {}) as { template?: Pod };
  return template === undefined ? [] : [template];
}

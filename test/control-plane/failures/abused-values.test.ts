import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { createdChart, exampleValues, type ForeignChart } from "../../support/charts/foreign-chart.ts";
import { repositoryFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import type { ApiCalls } from "../../support/plane/api-calls.ts";
import { paths } from "../../support/plane/chart/environment-objects.ts";
import { administrator, unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let admin: ApiCalls;
beforeAll(async () => {
  world = await createWorld();
  admin = administrator(world.plane);
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const place = { repoUrl: "https://git.example.test/chart.git", path: "chart", revision: "main" };

async function made(values: string, more: Partial<EnvironmentSpec> = {}): Promise<string> {
  const [repository, name] = [unique("abused-"), unique("abused-env-")];
  await world.register(repository, { chart: { ...place, values } });
  await world.create(name, { ...backendOnly, backend: { ...backendOnly.backend, repository }, ...more });
  return name;
}

const found = (kind: typeof applicationKind, name: string) =>
  world.admin.find(kind, { name: namespaceName(name), namespace: "argocd" });

interface Source {
  readonly helm: { readonly valuesObject: Record<string, unknown> };
}
const sourceOf = async (name: string) =>
  ((await found(applicationKind, name))?.spec as { source: Source } | undefined)?.source;

describe("abuse case: values that a chart is mapped to", () => {
  test.each([
    "secret.value",
    "secret.DATABASE_PASSWORD",
    "secrets",
    "backend.secrets",
    "environment.token",
    "database.password",
    "database.url",
    "imagePullSecrets[0]",
    "backend.env.SECRET_KEY",
    "backend['image']",
    "__proto__",
    "backend.constructor",
    "secret.name | b64dec",
    "backend.image}${secret.value",
  ])("can't ask for %s", async (written) => {
    const { apiVersion, kind, spec } = repositoryFixture();
    const chart = { ...place, values: `a: "\${${written}}"` };
    const object = { apiVersion, kind, metadata: { name: "shop-api" }, spec: { ...spec, chart } };
    const reply = await admin.create(`${paths.repositories}?dryRun=All`, object);
    expect(reply).toMatchObject({ status: 422, message: expect.stringContaining("' is not known: there are ") });
  });

  test("have no secret in them, whatever they ask for", async () => {
    const everything =
      "a: ${secret.name}\nb: ${backend.env}\nc: ${backend.envMap}\nd: ${imagePullSecrets}\ne: ${database.host} ${database.user}";
    const name = await made(everything, { database: { provision: true } });
    await world.expectPhase(name, "ready");
    const application = JSON.stringify(await found(applicationKind, name));
    const secrets = await world.admin.list(secretKind, { namespace: namespaceName(name) });
    const values = secrets.items.flatMap(({ data = {} }) => Object.values(data as Record<string, string>));
    expect(values.length).toBeGreaterThan(2);
    for (const value of values) {
      expect(application).not.toContain(value);
      expect(application).not.toContain(Buffer.from(value, "base64").toString());
    }
  }, 60_000);

  test("leave source, destination and project as they are, whatever they are called", async () => {
    const plain = await made("a: 1");
    const hostile = await made(
      "namespaceOverride: kube-system\nspec: {project: default, destination: {namespace: kube-system}}\nproject: default\ndestination: {namespace: kube-system}\nhelm: {parameters: [{name: a, value: b}], valueFiles: [/etc/passwd]}\nrepoURL: https://evil.example.test\nmetadata: {namespace: kube-system, finalizers: []}",
    );
    for (const name of [plain, hostile]) await world.expectPhase(name, "ready");
    const [ofPlain, ofHostile] = await Promise.all(
      [plain, hostile].map(async (name) => {
        const [application, project] = await Promise.all([found(applicationKind, name), found(appProjectKind, name)]);
        const { source, ...spec } = (application?.spec ?? {}) as { source: Source };
        const { helm, ...from } = source;
        const { valuesObject: _, ...others } = helm;
        const text = JSON.stringify([spec, from, others, project?.spec]);
        return text.replaceAll(name, "…");
      }),
    );
    expect(ofHostile).toBe(ofPlain);
    expect(Object.keys((await sourceOf(hostile))?.helm.valuesObject ?? {}).sort()).toEqual(
      ["namespaceOverride", "spec", "project", "destination", "helm", "repoURL", "metadata"].sort(),
    );
  }, 60_000);

  test("keep what users give in its place, byte for byte", async () => {
    const value =
      'x"\nsecurityContext: {privileged: true}\n---\nkind: Secret {{ .Values.a }} ${secret.name} $${a} $ARGOCD_APP_NAME \\';
    const env = [{ name: "A", value }];
    const name = await made("env: ${backend.env}\nmap: ${backend.envMap}", { overrides: { backend: { env } } });
    await world.expectPhase(name, "ready");
    const url = `https://${name}--api.env.localhost:18443`;
    expect((await sourceOf(name))?.helm.valuesObject).toEqual({
      env: [...env, { name: "PUBLIC_URL", value: url }],
      map: { A: value, PUBLIC_URL: url },
    });
  }, 60_000);

  const laughs = Array.from(
    { length: 9 },
    (_, at) => `a${at}: &a${at} [${at === 0 ? "x" : `*a${at - 1}, *a${at - 1}`}]`,
  );
  test.each([
    ["aliases in aliases", laughs.join("\n"), "aliases are not read"],
    ["brackets in brackets", `a: ${"[".repeat(16_000)}`, "nested too deeply"],
    ["a prototype", "a: {__proto__: {polluted: true}}", "the key '__proto__' is not read"],
    ["a merge of a prototype", "a: {<<: {polluted: true}}", "the key '<<' is not read"],
    ["a tag that makes objects", "a: !!js/function 'return 1'", "tags are not read"],
    ["a reference in a key", "${secret.name}: 1", "a key has no references"],
    ["a reference that is written by its code", 'a: "\\u0024{secret.value}"', "is not known"],
    ["a second document", "a: 1\n---\nkind: Secret", "line 2, column 1"],
    ["hundreds of lists", Array.from({ length: 50 }, (_, at) => `a${at}: \${backend.env}`).join("\n"), "more than"],
  ])(
    "can't be %s: no application is made",
    async (_, values, words) => {
      const name = await made(values);
      const { status } = await world.expectPhase(name, "failed");
      expect(findCondition(status?.conditions, "ConfigurationResolved")).toMatchObject({
        status: "False",
        reason: "ValuesInvalid",
        message: expect.stringContaining(words),
      });
      expect(await found(applicationKind, name)).toBeUndefined();
      expect({}).not.toHaveProperty("polluted");
    },
    60_000,
  );
});

describe("abuse case: a chart that was mapped to what policies pin", () => {
  let chart: ForeignChart;
  let name: string;
  let values: Record<string, unknown>;
  beforeAll(async () => {
    chart = await createdChart();
    name = await made(await exampleValues("What `helm create` writes"));
    await world.expectPhase(name, "ready");
    values = (await sourceOf(name))?.helm.valuesObject ?? {};
  }, 30 * 60_000);
  afterAll(() => chart.remove());

  /** The API server's answer to each object of the chart with other values. */
  async function applied(more: object) {
    const namespace = namespaceName(name);
    const collections: Readonly<Record<string, string>> = {
      Deployment: workloadPaths.Deployment(namespace),
      Service: paths.services(namespace),
      Ingress: paths.ingresses(namespace),
      ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    };
    const objects = await chart.render(name, { ...values, ...more });
    return Promise.all(
      objects.map(async (object) => {
        const { status, message } = await admin.create(`${collections[object.kind]}?dryRun=All`, object);
        return `${object.kind} ${status} ${message}`.trim();
      }),
    );
  }

  test("is let in as the example maps it", async () => {
    expect((await applied({})).sort()).toEqual(["Deployment 201", "Ingress 201", "Service 201", "ServiceAccount 201"]);
  }, 60_000);

  test.each([
    [
      "the host of another environment",
      {
        ingress: {
          enabled: true,
          hosts: [{ host: "shop--api.env.localhost", paths: [{ path: "/", pathType: "Prefix" }] }],
        },
      },
      "Ingress 403",
      "names one of its hosts",
    ],
    [
      "a further host of another environment",
      {
        ingress: {
          enabled: true,
          hosts: [{ host: "shop--admin.env.localhost", paths: [{ path: "/", pathType: "Prefix" }] }],
        },
      },
      "Ingress 403",
      "names one of its hosts",
    ],
    [
      "every host",
      { ingress: { enabled: true, hosts: [{ paths: [{ path: "/", pathType: "Prefix" }] }] } },
      "Ingress 403",
      "names one of its hosts",
    ],
    [
      "a token for all pods that name no account",
      { serviceAccount: { create: true, name: "default", automount: true } },
      "ServiceAccount 403",
      "automountServiceAccountToken of the ServiceAccount default is false",
    ],
    ["a service at the nodes", { service: { type: "NodePort", port: 8080 } }, "Service 403", ""],
    ["a taint", { tolerations: [{ operator: "Exists" }] }, "Deployment 403", "tolerations"],
    ["a folder of the node", { volumes: [{ name: "a", hostPath: { path: "/" } }] }, "Deployment 403", "volumes has"],
    [
      "the registry's credential",
      { volumes: [{ name: "a", secret: { secretName: "image-pull" } }] },
      "Deployment 403",
      "the Secret image-pull",
    ],
  ])(
    "is not let in with %s",
    async (_, more, refused, words) => {
      const refusal = (await applied(more)).find((reply) => reply.startsWith(refused));
      expect(refusal).toContain(words);
    },
    60_000,
  );
});

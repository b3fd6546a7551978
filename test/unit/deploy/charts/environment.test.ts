import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram, lintChart } from "../../../../deploy/local/kubernetes/helm.ts";
import { suspendedValues } from "../../../../operator/controllers/environment/desired/values.ts";
import { environmentValues, renderEnvironment } from "../../../support/fixtures/environment/environment-values.ts";
import { container, type Deployment, database, deployment, rendered, values } from "./rendered-environment.ts";

const { frontend: _, ...backendOnly } = values;

async function variables(name: string, change: object = {}): Promise<Record<string, string>> {
  const { env } = await container(name, change);
  for (const { name: variable } of env) expect(typeof variable).toBe("string");
  expect(new Set(env.map((variable) => variable.name)).size).toBe(env.length);
  return Object.fromEntries(env.map((variable) => [variable.name, variable.value]));
}

describe("the environment chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("satisfies helm's linter", async () => {
    const release = { chart: "environment", release: "environment", namespace: "env-shop", values } as const;
    expect(await lintChart(release)).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test("is a Deployment, a Service and an Ingress for each component", async () => {
    const objects = (await rendered()).map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    const kinds = ["Deployment", "Ingress", "Service"];
    expect(objects).toEqual(kinds.flatMap((kind) => [`${kind} backend`, `${kind} frontend`]));
  });

  test("names what images are pulled with in every component's pods, and nothing where nothing is given", async () => {
    const imagePullSecrets = [{ name: "image-pull" }];
    for (const name of ["backend", "frontend"]) {
      expect((await deployment(name, { imagePullSecrets })).spec.template.spec).toMatchObject({ imagePullSecrets });
      expect((await deployment(name)).spec.template.spec).not.toHaveProperty("imagePullSecrets");
    }
  });

  test("leaves the frontend out where there is none", async () => {
    const objects = await renderEnvironment("shop", backendOnly);
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(["backend", "backend", "backend"]);
  });

  test("marks everything, pods included, as the environment's", async () => {
    const ours = { "ephemeral-environments.dev/environment-uid": values.environment.uid };
    for (const { metadata } of await rendered()) expect(metadata.labels).toMatchObject(ours);
    expect(await deployment("backend")).toMatchObject({ spec: { template: { metadata: { labels: ours } } } });
  });

  test("routes each host over TLS to its own component, with the controller's default certificate", async () => {
    const ingresses = (await rendered()).filter(({ kind }) => kind === "Ingress");
    const specs = Object.fromEntries(ingresses.map(({ metadata, spec }) => [metadata.name, spec]));
    const routed = (host: string, service: string) => ({
      tls: [{ hosts: [host] }],
      rules: [
        {
          host,
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: service, port: { name: "http" } } } }],
          },
        },
      ],
    });
    expect(specs).toEqual({
      backend: routed("shop--api.env.localhost", "backend"),
      frontend: routed("shop.env.localhost", "frontend"),
    });
  });

  test("names an ingress class and annotations when the installation has them", async () => {
    const objects = await rendered({ ingress: { className: "internal", annotations: { "example.test/a": "b" } } });
    const ingress = objects.find(({ kind }) => kind === "Ingress");
    expect(ingress).toMatchObject({
      metadata: { annotations: { "example.test/a": "b", "traefik.ingress.kubernetes.io/router.tls": "true" } },
      spec: { ingressClassName: "internal" },
    });
  });

  test("doesn't let pods start without the secrets, and starts new ones for a new version of them", async () => {
    expect(await container("backend")).toMatchObject({
      envFrom: [{ secretRef: { name: "environment-secrets-0a1b2c3d" } }],
    });
    expect(await container("backend")).not.toHaveProperty("envFrom.0.secretRef.optional");
    const next = await container("backend", { secret: { name: "environment-secrets-4e5f6071" } });
    expect(next).toMatchObject({ envFrom: [{ secretRef: { name: "environment-secrets-4e5f6071" } }] });
  });

  test("gives each component its own facts and the other one's address", async () => {
    const common = { ENVIRONMENT_NAME: "shop", PORT: "8080" };
    const [backendUrl, frontendUrl] = [values.backend.url, values.frontend.url];
    expect(await variables("backend")).toEqual({ ...common, FRONTEND_URL: frontendUrl });
    expect(await variables("frontend")).toEqual({ ...common, BACKEND_URL: backendUrl });
    const { url: _url, ...unnamed } = values.backend;
    const derived = await variables("frontend", { backend: unnamed });
    expect(derived.BACKEND_URL).toBe("https://shop--api.env.localhost");
  });

  test("passes variables on byte for byte, the last of a name winning", async () => {
    const hostile = [
      "x\nsecurityContext: {privileged: true}",
      "{{ .Values }}",
      "$(SECRET_KEY) $$ $",
      "$ARGOCD_APP_NAME $(ARGOCD_APP_NAME)",
      " leading, trailing and tab\t\r\n",
      "0x10",
      "null",
      "!!binary x",
      ' "\\',
      "<&>é",
    ];
    const env = [
      { name: "PORT", value: "1" },
      { name: "PORT", value: "2" },
      ...hostile.map((value, index) => ({ name: `V${index}`, value })),
    ];
    const seen = await variables("backend", { backend: { ...values.backend, env } });
    // The kubelet turns "$$" into "$" and expands nothing else then.
    const asProcessSees = Object.fromEntries(
      Object.entries(seen).map(([name, value]) => [name, value.replaceAll("$$", "$")]),
    );
    expect(asProcessSees).toMatchObject({
      PORT: "2",
      ...Object.fromEntries(hostile.map((value, index) => [`V${index}`, value])),
    });
    expect(Object.values(seen).join("").replaceAll("$$", "")).not.toContain("$");
  });

  test.each(["off", "on", "yes", "no", "true", "null"])(
    "is the same for an environment that is called %s",
    async (name) => {
      const named = environmentValues(name);
      for (const { metadata } of await renderEnvironment(name, { ...named, database })) {
        expect(metadata.labels).toMatchObject({
          "app.kubernetes.io/part-of": name,
          "ephemeral-environments.dev/environment": name,
        });
      }
      expect(await variables("backend", named)).toMatchObject({ ENVIRONMENT_NAME: name });
    },
  );

  test("passes variables on under their own names, whatever YAML takes those for", async () => {
    const names = ["NO", "on", "y", "Off", "null", "true", "TRUE", "_1"];
    const backend = { ...values.backend, env: names.map((name) => ({ name, value: "1" })) };
    expect(Object.keys(await variables("backend", { backend }))).toEqual(expect.arrayContaining(names));
  });

  test("runs no pod and answers for no host while it is suspended, and keeps all else", async () => {
    const sleeping = await rendered(suspendedValues(values));
    const replicas = (objects: readonly Manifest[]) =>
      (objects.filter(({ kind }) => kind === "Deployment") as Deployment[]).map(({ spec }) => spec.replicas);
    expect(replicas(sleeping)).toEqual([0, 0]);
    const identified = (objects: readonly Manifest[]) =>
      objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const others = (await rendered()).filter(({ kind }) => kind !== "Ingress");
    expect(identified(sleeping)).toEqual(identified(others));
  });

  test("takes replicas, none included, and resources as they are given", async () => {
    const resources = { requests: { cpu: "1" } };
    const backend = { ...values.backend, replicas: 0, resources };
    expect((await deployment("backend", { backend })).spec.replicas).toBe(0);
    expect((await container("backend", { backend })).resources).toEqual(resources);
    expect((await deployment("backend")).spec.replicas).toBe(1);
    expect((await container("backend")).resources).toHaveProperty("limits.memory");
  });

  test.each([
    ["an unknown value", { cache: {} }, "cache"],
    ["a database without an image", { database: { ...database, image: undefined } }, "image"],
    ["a database's user who is no name", { database: { ...database, user: 'a"b' } }, "user"],
    ["an unknown value of a component", { backend: { ...values.backend, hostNetwork: true } }, "hostNetwork"],
    ["no backend", { backend: null }, "backend"],
    ["no secret", { secret: {} }, "name"],
    ["a variable that is no name", { backend: { ...values.backend, env: [{ name: "A=B", value: "" }] } }, "A=B"],
    ["a variable that is no text", { backend: { ...values.backend, env: [{ name: "A", value: 1 }] } }, "string"],
    ["a port of nowhere", { backend: { ...values.backend, port: 0 } }, "port"],
  ])("refuses %s", async (_what, change, word) => {
    await expect(rendered(change)).rejects.toThrow(new RegExp(word));
  });
});

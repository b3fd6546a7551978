import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { environmentValues } from "../../../../operator/controllers/environment/desired/values.ts";
import { createdChart, exampleValues, type ForeignChart } from "../../../support/charts/foreign-chart.ts";
import {
  commitA,
  fixtureSettings,
  repositoryFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";
import { renderEnvironment } from "../../../support/fixtures/environment/environment-values.ts";
import { planInputFixture } from "../../../support/fixtures/plan-input.ts";
import { type Parts, shop, valuesOf } from "../../operator/controllers/environment/desired/shop-values.ts";

const place = { repoUrl: "https://git.test/c.git", path: ".", revision: "main" };

function mapped(values: string, spec: Parts["spec"] = {}): object {
  const backend = repositoryFixture("shop-api", {
    chart: { ...place, values },
    port: 9e3,
    imagePullSecretRef: { name: "shop-registry", key: "latest" },
  });
  const environment = shop({ spec, status: { pullSecret: [{ registry: "registry.test", source: "shop@latest" }] } });
  return environmentValues(planInputFixture(environment, { backend }), fixtureSettings);
}

const named = (objects: readonly Manifest[], kind: string) =>
  objects.find((object) => object.kind === kind) as (Manifest & { readonly spec: object }) | undefined;

describe("the chart that helm create writes, mapped as docs/charts.md says", () => {
  let chart: ForeignChart;
  let example: string;
  beforeAll(async () => {
    chart = await createdChart();
    example = await exampleValues("What `helm create` writes");
  }, 30 * 60_000);
  afterAll(() => chart.remove());

  test("runs the environment's image at its port, and answers at its host", async () => {
    const objects = await chart.render("shop", mapped(example));
    expect(objects.map(({ kind }) => kind).sort()).toEqual(["Deployment", "Ingress", "Service", "ServiceAccount"]);
    expect(named(objects, "Deployment")?.spec).toMatchObject({
      replicas: 1,
      template: {
        spec: {
          imagePullSecrets: [{ name: "image-pull" }],
          containers: [
            {
              image: `registry.test/shop-api:${commitA}`,
              ports: [{ name: "http", containerPort: 9000, protocol: "TCP" }],
            },
          ],
        },
      },
    });
    const ingress = named(objects, "Ingress");
    expect(ingress?.metadata.annotations).toEqual(fixtureSettings.ingress.annotations);
    expect(ingress?.spec).toMatchObject({ rules: [{ host: "shop--api.env.localhost" }] });
    expect(ingress?.spec).not.toHaveProperty("ingressClassName");
  });

  test("has what users choose, and no pods while the environment is suspended", async () => {
    const resources = { requests: { memory: "64Mi" } };
    const overrides = { backend: { resources } };
    const asleep = await chart.render("shop", mapped(example, { suspended: true, overrides }));
    expect(named(asleep, "Deployment")?.spec).toMatchObject({
      replicas: 0,
      template: { spec: { containers: [{ resources }] } },
    });
  });
});

test("the default chart can be mapped to what it is given without values", async () => {
  const mapping = `
environment: {name: "\${environment.name}", uid: "\${environment.uid}"}
backend:
  image: \${backend.image}
  pullPolicy: \${backend.pullPolicy}
  commit: \${backend.commit}
  port: \${backend.port}
  host: \${backend.host}
  url: \${backend.url}
  healthPath: /healthz
  env: \${backend.env}
  replicas: \${backend.replicas}
secret: {name: "\${secret.name}"}
imagePullSecrets: \${imagePullSecrets}
`;
  const overrides = { backend: { replicas: 2, env: [{ name: "A", value: 'x\n{{ .Values.secret }} "' }] } };
  const layout = valuesOf(
    shop({ spec: { overrides }, status: { pullSecret: [{ registry: "registry.test", source: "shop@latest" }] } }),
    { port: 9000, healthPath: "/healthz", imagePullSecretRef: { name: "shop-registry", key: "latest" } },
  );
  const objects = await renderEnvironment("shop", mapped(mapping, { overrides }));
  expect(objects).toEqual(await renderEnvironment("shop", layout));
  expect(JSON.stringify(named(objects, "Deployment"))).toContain(JSON.stringify(overrides.backend.env[0]?.value));
}, 60_000);

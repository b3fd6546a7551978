import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths, roleBindingObject } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const namespace = unique("env-scaled-");

let admin: ApiCalls;
let platform: ApiCalls;

type Kind = "Deployment" | "StatefulSet";

/** A workload of the environment with this number of pods; answers its path. */
async function workload(kind: Kind, replicas: number): Promise<string> {
  const name = unique("scaled-");
  const labels = { app: name };
  const containers = [{ name: "main", image: "registry.test/main:1" }];
  const selector = { matchLabels: labels };
  const template = { metadata: { labels }, spec: { containers } };
  const metadata = { name, labels: { "app.kubernetes.io/name": "backend" } };
  await given(admin, workloadPaths[kind](namespace), { metadata, spec: { replicas, selector, template } });
  return `${workloadPaths[kind](namespace)}/${name}`;
}

const scale = (path: string, replicas: number) => platform.patch(`${path}/scale`, { spec: { replicas } });

beforeAll(async () => {
  admin = administrator(plane);
  platform = callsAs(plane, { token: plane.platform.token });
  await given(platform, paths.namespaces, namespaceObject(namespace));
  await given(platform, paths.roleBindings(namespace), roleBindingObject());
  const mayScale = async () => (await scale(`${workloadPaths.Deployment(namespace)}/absent`, 1)).status === 404;
  await until(mayScale, { what: "the rights of the binding", deadlineMs: 30_000 });
}, 60_000);

afterAll(() => platform.delete(`${paths.namespaces}/${namespace}`));

describe.each(["Deployment", "StatefulSet"] as const)("the platform, for a %s of an environment", (kind) => {
  test("raises its pods from zero", async () => {
    const path = await workload(kind, 0);
    expect(await scale(path, 2)).toMatchObject({ message: "", status: 200 });
    expect((await admin.get(path)).object).toMatchObject({ spec: { replicas: 2 } });
  });

  test.each([0, 1, 3])("leaves 2 pods alone, instead of %i", async (replicas) => {
    const path = await workload(kind, 2);
    const message = expect.stringContaining("the platform scales only from zero");
    expect(await scale(path, replicas)).toMatchObject({ status: 403, message });
  });

  test("changes nothing else of it", async () => {
    const path = await workload(kind, 0);
    const message = expect.stringContaining("platform-teardown");
    expect(await platform.patch(path, { spec: { replicas: 1 } })).toMatchObject({ status: 403, message });
  });
});

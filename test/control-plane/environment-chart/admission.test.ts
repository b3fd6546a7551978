import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../../../deploy/local/kubernetes/api-client.ts";
import { environmentValues, renderEnvironment } from "../../support/fixtures/environment/environment-values.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

/** A database with a seed. */
const database = {
  image: "docker.io/library/postgres:18",
  user: "app",
  name: "app",
  sizeGi: 1,
  seeded: true,
  seed: { id: "0a1b2c3d", image: "registry.test/seed:1", path: "/data.sql", format: "sql", seconds: 600 },
};

const WORKLOADS = ["Deployment", "StatefulSet", "Job"];

interface Workload extends Manifest {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

describe("the environment chart in an environment's namespace", () => {
  const name = unique("chart-");
  const namespace = `env-${name}`;
  const collections: Readonly<Record<string, string>> = {
    Deployment: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    StatefulSet: `/apis/apps/v1/namespaces/${namespace}/statefulsets`,
    Job: `/apis/batch/v1/namespaces/${namespace}/jobs`,
    PersistentVolumeClaim: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
    Service: paths.services(namespace),
    Ingress: paths.ingresses(namespace),
  };
  let admin: ApiCalls;
  let platform: ApiCalls;
  let objects: readonly Manifest[];

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await given(admin, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "chart" } });
    objects = await renderEnvironment(name, { ...environmentValues(name), database });
  }, 30 * 60_000);

  test("is accepted whole, every field known", async () => {
    for (const object of objects) {
      const reply = await admin.create(`${collections[object.kind]}?dryRun=All`, object);
      expect(reply).toMatchObject({ status: 201, message: "" });
    }
  });

  test("makes pods that Pod Security restricted lets in, and only those", async () => {
    const pods = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    for (const { spec } of objects.filter(({ kind }) => WORKLOADS.includes(kind)) as Workload[]) {
      const pod = (more: object) => ({
        metadata: { ...spec.template.metadata, name: "pod" },
        spec: { ...spec.template.spec, serviceAccountName: "chart", ...more },
      });
      expect(await admin.create(pods, pod({}))).toMatchObject({ status: 201 });
      const privileged = await admin.create(pods, pod({ hostNetwork: true }));
      expect(privileged).toMatchObject({ status: 403, message: expect.stringContaining("violates PodSecurity") });
    }
  });

  test("can't answer for another environment, whatever values it is given", async () => {
    const stolen = await renderEnvironment(name, environmentValues("shop"));
    for (const object of stolen.filter(({ kind }) => kind === "Ingress")) {
      const reply = await admin.create(paths.ingresses(namespace), object);
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining("names one of its hosts") });
    }
  });
});

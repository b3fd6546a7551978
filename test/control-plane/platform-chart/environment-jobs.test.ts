import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { jobObject, jobStatus, workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths, roleBindingObject } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const namespace = unique("env-jobs-");
const foreign = unique("jobs-");
const dry = (path: string) => `${path}?dryRun=All`;
const jobs = (place: string) => workloadPaths.Job(place);

/** Argo CD's mark on what the application of that namespace makes. */
const tracked = (place: string, name = "tracked") => ({
  "argocd.argoproj.io/tracking-id": `${place}:batch/Job:${place}/${name}`,
});
const ttl = { ttlSecondsAfterFinished: 5 };

let admin: ApiCalls;
let platform: ApiCalls;

/** A Job with this metadata and spec, that has ended as said. */
async function job(place: string, metadata: object, spec: object, end?: "Complete" | "Failed"): Promise<string> {
  const name = unique("job-");
  await given(admin, jobs(place), jobObject({ name, ...metadata }, spec));
  const path = `${jobs(place)}/${name}`;
  const status = end === undefined ? {} : jobStatus(end);
  expect(await admin.patch(`${path}/status`, { status })).toMatchObject({ message: "", status: 200 });
  return path;
}

beforeAll(async () => {
  admin = administrator(plane);
  platform = callsAs(plane, { token: plane.platform.token });
  await given(platform, paths.namespaces, namespaceObject(namespace));
  await given(platform, paths.roleBindings(namespace), roleBindingObject());
  await given(admin, paths.namespaces, { metadata: { name: foreign } });
  const mayDelete = async () => (await platform.delete(dry(`${jobs(namespace)}/absent`))).status === 404;
  await until(mayDelete, { what: "the rights of the binding", deadlineMs: 30_000 });
}, 60_000);

afterAll(async () => {
  await platform.delete(`${paths.namespaces}/${namespace}`);
  await admin.delete(`${paths.namespaces}/${foreign}`);
});

describe("a Job of an environment's chart that has ended", () => {
  const stays = { status: 403, message: expect.stringContaining("stays when it has ended") };
  const goes = { status: 200 };
  const ttlController = () => as("system:serviceaccount:kube-system:ttl-after-finished-controller");
  const as = (user: string) => callsAs(plane, { user, groups: ["system:masters"] });

  test.each(["Complete", "Failed"] as const)("stays although its TTL is over: %s", async (end) => {
    const path = await job(namespace, { annotations: tracked(namespace) }, ttl, end);
    expect(await ttlController().delete(dry(path))).toMatchObject(stays);
    expect(await as("system:kube-controller-manager").delete(dry(path))).toMatchObject(stays);
  });

  test("stays where Argo CD marks by a label, too", async () => {
    const labels = { "app.kubernetes.io/instance": namespace };
    expect(await ttlController().delete(dry(await job(namespace, { labels }, ttl, "Complete")))).toMatchObject(stays);
  });

  test("is removed by everybody else", async () => {
    const path = await job(namespace, { annotations: tracked(namespace) }, ttl, "Complete");
    const argo = as("system:serviceaccount:argocd:argocd-application-controller");
    for (const caller of [admin, argo, as("system:serviceaccount:kube-system:namespace-controller")]) {
      expect(await caller.delete(dry(path))).toMatchObject(goes);
    }
  });

  test.each([
    { what: "no application has made it", metadata: {} },
    { what: "an application of elsewhere has made it", metadata: { annotations: tracked("env-other") } },
    { what: "its chart names only the release", metadata: { labels: { "app.kubernetes.io/instance": "environment" } } },
    { what: "it is a hook", metadata: { annotations: { ...tracked(namespace), "helm.sh/hook": "pre-upgrade" } } },
    {
      what: "it is a hook of Argo CD's",
      metadata: { annotations: { ...tracked(namespace), "argocd.argoproj.io/hook": "PreSync" } },
    },
  ])("is removed by its TTL where $what", async ({ metadata }) => {
    const path = await job(namespace, metadata, ttl, "Complete");
    expect(await ttlController().delete(path)).toMatchObject(goes);
  });

  test("is removed by its TTL where it has an owner", async () => {
    const owner = await given(admin, paths.configMaps(namespace), { metadata: { name: unique("owner-") } });
    const { name, uid } = owner.metadata as { name: string; uid: string };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid }];
    const path = await job(namespace, { annotations: tracked(namespace), ownerReferences }, ttl, "Complete");
    expect(await ttlController().delete(path)).toMatchObject(goes);
  });

  test("is removed by its TTL outside of environments, and in a namespace that goes", async () => {
    const outside = await job(foreign, { annotations: tracked(foreign) }, ttl, "Complete");
    expect(await ttlController().delete(outside)).toMatchObject(goes);
    const going = unique("env-jobs-");
    await given(platform, paths.namespaces, namespaceObject(going));
    const hold = { annotations: tracked(going), finalizers: ["foregroundDeletion"] };
    const path = await job(going, hold, ttl, "Complete");
    await given(admin, paths.configMaps(going), { metadata: { name: "held", finalizers: ["example.test/hold"] } });
    await platform.delete(`${paths.namespaces}/${going}`);
    expect(await ttlController().delete(path)).toMatchObject(goes);
    await admin.patch(`${paths.configMaps(going)}/held`, { metadata: { finalizers: null } });
  });
});

describe("the platform", () => {
  test("deletes a Job of the chart that has ended and has a TTL", async () => {
    const path = await job(namespace, { annotations: tracked(namespace) }, ttl, "Complete");
    expect(await platform.delete(path)).toMatchObject({ message: "", status: 200 });
  });

  test.each([
    { what: "that runs", metadata: { annotations: tracked(namespace) }, spec: ttl, end: undefined },
    { what: "without a TTL", metadata: { annotations: tracked(namespace) }, spec: {}, end: "Complete" },
    { what: "that no application has made", metadata: {}, spec: ttl, end: "Complete" },
    { what: "of another application", metadata: { annotations: tracked("env-other") }, spec: ttl, end: "Failed" },
  ] as const)("deletes no Job $what", async ({ metadata, spec, end }) => {
    const words = "deletes only Jobs of an environment's chart that have ended and have a ttlSecondsAfterFinished";
    const refusal = { status: 403, message: expect.stringContaining(words) };
    expect(await platform.delete(await job(namespace, metadata, spec, end))).toMatchObject(refusal);
  });

  test("deletes no Job elsewhere", async () => {
    const path = await job(foreign, { annotations: tracked(foreign) }, ttl, "Complete");
    expect(await platform.delete(path)).toMatchObject({
      status: 403,
      message: expect.stringContaining("cannot delete"),
    });
  });
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { podSpec, workload, workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const storageClasses = "/apis/storage.k8s.io/v1/storageclasses";
const claims = (place: string) => `/api/v1/namespaces/${place}/persistentvolumeclaims`;
const usual = unique("usual-");
const fast = unique("fast-");

const claimSpec = (spec: object = {}) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
  ...spec,
});
const claim = (spec: object, name = "data") => ({ metadata: { name }, spec: claimSpec(spec) });
const withTemplates = (spec: object) => {
  const made = workload("StatefulSet", podSpec()) as { spec: object };
  return { ...made, spec: { ...made.spec, volumeClaimTemplates: [claim(spec)] } };
};
const ephemeral = (spec: object) =>
  podSpec({ volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec: claimSpec(spec) } } }] });

const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "theirs" };
const source = "spec.dataSource and spec.dataSourceRef";
const refused: readonly [what: string, spec: object, words: string][] = [
  ["a volume of its choice", { volumeName: "pv-of-others" }, "spec.volumeName"],
  ["a volume by its labels", { selector: { matchLabels: { team: "billing" } } }, "has only accessModes"],
  ["no storage class, for volumes that a user made", { storageClassName: "" }, "spec.storageClassName"],
  ["another storage class", { storageClassName: fast }, "environments.storageClasses"],
  ["a snapshot of others", { dataSource: snapshot }, source],
  ["a snapshot of others by reference", { dataSourceRef: snapshot }, source],
  ["another class of performance", { volumeAttributesClassName: "gold" }, "has only accessModes"],
];

async function givenClasses(admin: ApiCalls): Promise<void> {
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const provisioner = "none.example.test/none";
  await given(admin, storageClasses, { metadata: { name: usual, annotations }, provisioner });
  await given(admin, storageClasses, { metadata: { name: fast }, provisioner });
}

async function untilHeld(admin: ApiCalls, place: string): Promise<void> {
  for (const spec of [{ storageClassName: fast }, { volumeName: "x" }]) {
    const check = async () => (await admin.create(`${claims(place)}?dryRun=All`, claim(spec))).status === 403;
    await until(check, { what: "the rules for claims to hold", deadlineMs: 20_000 });
  }
}

let admin: ApiCalls;
beforeAll(async () => {
  admin = administrator(plane);
  await givenClasses(admin);
}, 60_000);

afterAll(async () => {
  for (const name of [usual, fast]) await admin.delete(`${storageClasses}/${name}`);
});

describe("abuse case 118: a claim of an environment", () => {
  const namespace = unique("env-claiming-");
  const foreign = unique("foreign-");
  let platform: ApiCalls;

  beforeAll(async () => {
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(namespace));
    await given(admin, paths.namespaces, { metadata: { name: foreign } });
    await untilHeld(admin, namespace);
  }, 60_000);

  afterAll(async () => {
    await platform.delete(`${paths.namespaces}/${namespace}`);
    await admin.delete(`${paths.namespaces}/${foreign}`);
  });

  test.each(refused)("has not %s, by itself, by a template or for a pod", async (_, spec, words) => {
    const message = expect.stringContaining(words);
    const alone = await admin.create(`${claims(namespace)}?dryRun=All`, claim(spec));
    expect(alone).toMatchObject({ status: 403, message });
    const templates = await admin.create(`${workloadPaths.StatefulSet(namespace)}?dryRun=All`, withTemplates(spec));
    expect(templates).toMatchObject({ status: 403, message });
    const ofPods = workload("Deployment", ephemeral(spec));
    expect(await admin.create(`${workloadPaths.Deployment(namespace)}?dryRun=All`, ofPods)).toMatchObject({
      status: 403,
      message,
    });
    const elsewhere = await admin.create(`${claims(foreign)}?dryRun=All`, claim(spec));
    expect(elsewhere).toMatchObject({ status: 201 });
  });

  test("is of the cluster's default class, whether it says so or not, and may be a copy of its own", async () => {
    for (const spec of [
      {},
      { storageClassName: usual },
      { volumeMode: "Block" },
      { dataSource: { kind: "PersistentVolumeClaim", name: "data" } },
    ]) {
      const alone = await admin.create(`${claims(namespace)}?dryRun=All`, claim(spec));
      expect(alone).toMatchObject({ message: "", status: 201 });
      const templates = await admin.create(`${workloadPaths.StatefulSet(namespace)}?dryRun=All`, withTemplates(spec));
      expect(templates).toMatchObject({ message: "", status: 201 });
    }
    const job = workload("Job", ephemeral({}));
    expect(await admin.create(`${workloadPaths.Job(namespace)}?dryRun=All`, job)).toMatchObject({ status: 201 });
  });

  test("is bound by Kubernetes, not by its chart; then it may grow", async () => {
    const path = `${claims(namespace)}/bound`;
    await given(admin, claims(namespace), claim({}, "bound"));
    const bind = { spec: { volumeName: "pv-of-others" } };
    const argo = callsAs(plane, {
      user: "system:serviceaccount:argocd:argocd-application-controller",
      groups: ["system:masters"],
    });
    const message = expect.stringContaining("spec.volumeName");
    expect(await argo.patch(path, bind)).toMatchObject({ status: 403, message });
    const binder = callsAs(plane, {
      user: "system:serviceaccount:kube-system:persistent-volume-binder",
      groups: ["system:masters"],
    });
    const annotations = { "pv.kubernetes.io/bind-completed": "yes" };
    expect(await binder.patch(path, { metadata: { annotations }, ...bind })).toMatchObject({
      message: "",
      status: 200,
    });
    expect(await binder.patch(`${path}/status`, { status: { phase: "Bound" } })).toMatchObject({ status: 200 });
    await admin.patch(`${storageClasses}/${usual}`, { allowVolumeExpansion: true });
    const larger = { spec: { resources: { requests: { storage: "2Gi" } } } };
    const isGrown = async () => (await argo.patch(path, larger)).message === "";
    await until(isGrown, { what: "the class to let it grow" });
    expect(await admin.patch(path, { metadata: { labels: { a: "b" } } })).toMatchObject({ status: 200 });
    await admin.delete(path);
  });
});

describe("a claim of an environment, where the values allow more", () => {
  const allowing = unique("claiming-");
  let copies: CopiedPolicies;

  beforeAll(async () => {
    await given(admin, paths.namespaces, { metadata: { name: allowing } });
    copies = await copiedPolicies(admin, {
      names: ["environment-storage-classes", "environment-claims"],
      namespace: allowing,
      environments: { storageClasses: [fast], claimDataSources: ["snapshot.storage.k8s.io/VolumeSnapshot"] },
    });
    const check = async () => (await admin.create(dryRun, claim({ volumeName: "x" }))).status === 403;
    await until(check, { what: "the rules for claims to hold", deadlineMs: 20_000 });
  }, 60_000);

  afterAll(async () => {
    await copies.remove();
    await admin.delete(`${paths.namespaces}/${allowing}`);
  });

  const dryRun = `${claims(allowing)}?dryRun=All`;

  test("has another class, and a snapshot of its own namespace", async () => {
    for (const spec of [{ storageClassName: fast }, { storageClassName: usual }, { dataSource: snapshot }]) {
      expect(await admin.create(dryRun, claim(spec))).toMatchObject({ message: "", status: 201 });
    }
  });
});

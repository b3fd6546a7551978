import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { podSpec, workload, workloadPaths } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const namespace = unique("env-objects-");
const foreign = unique("foreign-");
const allowing = unique("objects-");
const accounts = (place: string) => `/api/v1/namespaces/${place}/serviceaccounts`;
const budgets = (place: string) => `/apis/policy/v1/namespaces/${place}/poddisruptionbudgets`;
const claims = (place: string) => `/api/v1/namespaces/${place}/persistentvolumeclaims`;
const dry = (path: string) => `${path}?dryRun=All`;

const account = (annotations: object) => ({ metadata: { name: "shop", annotations } });
const budget = (spec: object) => ({
  metadata: { name: "shop" },
  spec: { selector: { matchLabels: { app: "shop" } }, unhealthyPodEvictionPolicy: "AlwaysAllow", ...spec },
});
const held = (object: object, finalizers: readonly string[]) => {
  const { metadata, ...rest } = object as { metadata: object };
  return { ...rest, metadata: { ...metadata, finalizers } };
};
const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const configMap = { metadata: { name: "files" } };
const finalizer = "x.example.test/never";

const argo = () =>
  callsAs(plane, { user: "system:serviceaccount:argocd:argocd-application-controller", groups: ["system:masters"] });

let admin: ApiCalls;
let platform: ApiCalls;
beforeAll(async () => {
  admin = administrator(plane);
  platform = callsAs(plane, { token: plane.platform.token });
  await given(platform, paths.namespaces, namespaceObject(namespace));
  await given(admin, paths.namespaces, { metadata: { name: foreign } });
  await given(admin, paths.namespaces, { metadata: { name: allowing } });
}, 60_000);

afterAll(async () => {
  await platform.delete(`${paths.namespaces}/${namespace}`);
  for (const name of [foreign, allowing]) await admin.delete(`${paths.namespaces}/${name}`);
});

describe("abuse case 119: a ServiceAccount of an environment", () => {
  test.each([
    "eks.amazonaws.com/role-arn",
    "iam.gke.io/gcp-service-account",
    "azure.workload.identity/client-id",
    "azure.workload.identity/tenant-id",
    "some.cloud.example.test/identity",
  ])("has no identity in a cloud by %s", async (key) => {
    const words = `has no annotation ${key}: `;
    const made = account({ [key]: "administrator" });
    const reply = await admin.create(dry(accounts(namespace)), made);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    expect(reply.message).toContain("environments.serviceAccountAnnotations");
    const path = `${accounts(namespace)}/default`;
    const isThere = async () => (await admin.get(path)).status === 200;
    await until(isThere, { what: "a ServiceAccount", deadlineMs: 30_000 });
    const later = await admin.patch(dry(path), { metadata: { annotations: { [key]: "administrator" } } });
    expect(later).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    expect(await admin.create(dry(accounts(foreign)), made)).toMatchObject({ status: 201 });
  });

  test("gives no token where pods name none, however it is written; Kubernetes may make it", async () => {
    const path = `${accounts(namespace)}/default`;
    await until(async () => (await admin.get(path)).status === 200, { what: "a ServiceAccount", deadlineMs: 30_000 });
    const words = "automountServiceAccountToken of the ServiceAccount default is false";
    const refused = { status: 403, message: expect.stringContaining(words) };
    const none = { automountServiceAccountToken: false };
    expect(await platform.patch(path, none)).toMatchObject({ status: 200 });
    for (const caller of [admin, argo()]) {
      for (const change of [{ automountServiceAccountToken: true }, { automountServiceAccountToken: null }]) {
        expect(await caller.patch(dry(path), change)).toMatchObject(refused);
      }
      expect(await caller.patch(dry(path), { metadata: { labels: { a: "b" } } })).toMatchObject({ status: 200 });
    }
    expect(await admin.delete(path)).toMatchObject({ status: 200 });
    const named = { metadata: { name: "default" } };
    await until(async () => (await admin.get(path)).status === 200, { what: "Kubernetes' own", deadlineMs: 30_000 });
    expect((await admin.get(path)).object).not.toHaveProperty("automountServiceAccountToken");
    // Policies are evaluated before the lookup.
    for (const given of [{}, { automountServiceAccountToken: true }]) {
      expect(await argo().create(dry(accounts(namespace)), { ...named, ...given })).toMatchObject(refused);
    }
    expect(await platform.patch(path, none)).toMatchObject({ status: 200 });
    expect(await admin.create(dry(accounts(namespace)), { metadata: { name: "mine" } })).toMatchObject({ status: 201 });
  });

  test("has what Argo CD and kubectl write", async () => {
    const annotations = {
      "argocd.argoproj.io/tracking-id": "env-shop:/ServiceAccount:env-shop/shop",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    expect(await admin.create(dry(accounts(namespace)), account(annotations))).toMatchObject({ status: 201 });
  });
});

describe("abuse case 120: a PodDisruptionBudget of an environment", () => {
  test.each([
    ["no pod that may go", { maxUnavailable: 0 }, "spec.maxUnavailable"],
    ["no share of pods that may go", { maxUnavailable: "0%" }, "spec.maxUnavailable"],
    ["no share of pods that may go, in other words", { maxUnavailable: "00%" }, "spec.maxUnavailable"],
    ["all pods that have to stay", { minAvailable: "100%" }, "spec.maxUnavailable"],
    ["as many pods that have to stay as there are", { minAvailable: 1 }, "spec.maxUnavailable"],
    ["nothing said", {}, "spec.maxUnavailable"],
    [
      "pods that never get ready, which would have to stay",
      { maxUnavailable: 1, unhealthyPodEvictionPolicy: "IfHealthyBudget" },
      "spec.unhealthyPodEvictionPolicy",
    ],
  ])("holds no node with %s", async (_, spec, words) => {
    const reply = await admin.create(dry(budgets(namespace)), budget(spec));
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    expect(reply.message).toContain("environments.drainBlockingBudgets");
    expect(await admin.create(dry(budgets(foreign)), budget(spec))).toMatchObject({ status: 201 });
  });

  test.each([{ maxUnavailable: 1 }, { maxUnavailable: "25%" }, { minAvailable: 0 }])(
    "lets pods go one after the other: %j",
    async (spec) => {
      expect(await admin.create(dry(budgets(namespace)), budget(spec))).toMatchObject({ message: "", status: 201 });
    },
  );
});

describe("abuse case 121: a finalizer without a controller, on a chart's object", () => {
  const stateful = workload("StatefulSet", podSpec()) as { spec: object };
  const objects: readonly [what: string, path: (place: string) => string, object: object][] = [
    ["a ConfigMap", paths.configMaps, held(configMap, [finalizer])],
    ["a claim", claims, held(claim, [finalizer])],
    ["a Deployment", workloadPaths.Deployment, held(workload("Deployment", podSpec()), [finalizer])],
    ["pods of a Job", workloadPaths.Job, workload("Job", podSpec(), { finalizers: [finalizer] })],
    ["pods of a ReplicaSet", workloadPaths.ReplicaSet, workload("ReplicaSet", podSpec(), { finalizers: [finalizer] })],
    [
      "claims of a StatefulSet",
      workloadPaths.StatefulSet,
      { ...stateful, spec: { ...stateful.spec, volumeClaimTemplates: [held(claim, [finalizer])] } },
    ],
    [
      "an Ingress",
      paths.ingresses,
      held({ metadata: { name: "web" }, spec: { rules: [{ host: `${namespace.slice(4)}.env.localhost` }] } }, [
        finalizer,
      ]),
    ],
    ["a ServiceAccount", accounts, held(account({}), [finalizer])],
    ["a budget", budgets, held(budget({ maxUnavailable: 1 }), [finalizer])],
  ];

  test.each(objects)("is refused on %s", async (_, path, object) => {
    const reply = await argo().create(dry(path(namespace)), object);
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(`has the finalizer ${finalizer}, `) });
    expect(reply.message).toContain("environments.finalizers");
  });

  test("is refused to Argo CD later, too, and not to who removes it again", async () => {
    const path = `${paths.configMaps(namespace)}/later`;
    await given(admin, paths.configMaps(namespace), { metadata: { name: "later" } });
    const change = { metadata: { finalizers: [finalizer] } };
    expect(await argo().patch(path, change)).toMatchObject({ status: 403 });
    // A controller with clean-up elsewhere before the object's removal.
    const controller = callsAs(plane, {
      user: "system:serviceaccount:clouds:load-balancer",
      groups: ["system:masters"],
    });
    expect(await controller.patch(path, change)).toMatchObject({ status: 200 });
    expect(await argo().patch(path, { data: { a: "b" } })).toMatchObject({ message: "", status: 200 });
    expect(await controller.patch(path, { metadata: { finalizers: null } })).toMatchObject({ status: 200 });
    await admin.delete(path);
  });

  test("is not meant by those of Kubernetes and of Argo CD", async () => {
    for (const known of ["foregroundDeletion", "orphan"]) {
      const kept = held(configMap, [known, "argocd.argoproj.io/hook-finalizer"]);
      expect(await argo().create(dry(paths.configMaps(namespace)), kept)).toMatchObject({ message: "", status: 201 });
    }
    const protectedClaim = held(claim, ["kubernetes.io/pvc-protection"]);
    expect(await argo().create(dry(claims(namespace)), protectedClaim)).toMatchObject({ status: 201 });
    const jobs = callsAs(plane, {
      user: "system:serviceaccount:kube-system:job-controller",
      groups: ["system:masters"],
    });
    const pod = workload("Pod", podSpec(), { finalizers: ["batch.kubernetes.io/job-tracking"] });
    const account = async () => (await admin.get(`${accounts(namespace)}/default`)).status === 200;
    await until(account, { what: "a ServiceAccount", deadlineMs: 30_000 });
    expect(await jobs.create(dry(workloadPaths.Pod(namespace)), pod)).toMatchObject({ message: "", status: 201 });
  });
});

describe("what an environment's chart makes, where the values allow more", () => {
  let copies: CopiedPolicies;

  beforeAll(async () => {
    copies = await copiedPolicies(admin, {
      names: ["environment-budgets", "environment-finalizers", "environment-service-accounts"],
      namespace: allowing,
      environments: {
        drainBlockingBudgets: true,
        finalizers: [finalizer],
        serviceAccountAnnotations: ["eks.amazonaws.com/*"],
      },
    });
    const check = async () => (await admin.create(dry(accounts(allowing)), account({ a: "b" }))).status === 403;
    await until(check, { what: "the rules to hold", deadlineMs: 20_000 });
  }, 60_000);

  afterAll(() => copies.remove());

  test("is taken", async () => {
    const role = account({ "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/environments" });
    expect(await admin.create(dry(accounts(allowing)), role)).toMatchObject({ status: 201 });
    expect(await admin.create(dry(budgets(allowing)), budget({ maxUnavailable: 0 }))).toMatchObject({ status: 201 });
    const kept = held(configMap, [finalizer]);
    expect(await argo().create(dry(paths.configMaps(allowing)), kept)).toMatchObject({ status: 201 });
    const other = held(configMap, ["y.example.test/never"]);
    expect(await argo().create(dry(paths.configMaps(allowing)), other)).toMatchObject({ status: 403 });
  });
});

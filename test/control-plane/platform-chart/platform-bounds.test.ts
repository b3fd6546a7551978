import { beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import {
  given,
  namespaceObject,
  paths,
  roleBindingObject,
  uidLabel,
} from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const rbacGroup = "rbac.authorization.k8s.io";
const ours = unique("env-bounds-");
const foreign = unique("env-prod-");
const uid = "11111111-2222-4333-8444-555555555555";

const onlyOurs = "the platform writes only namespaces env-* that carry the label";

describe("the platform's identity can't", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(ours));
    await given(admin, paths.namespaces, { metadata: { name: foreign } });
  }, 60_000);

  async function refused(reply: ReturnType<ApiCalls["get"]>, words: string): Promise<void> {
    expect(await reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  }

  test.each([
    ["secrets of the system", paths.secrets("kube-system")],
    ["secrets of all namespaces", "/api/v1/secrets"],
    ["secrets of its own namespace", paths.secrets("ephemeral-system")],
    ["secrets of the deployer", `${paths.secrets("argocd")}/argocd-secret`],
    ["secrets of an environment before it bound its role", `${paths.secrets(ours)}/environment-secrets-0a1b2c3d`],
    ["pods of all namespaces", "/api/v1/pods"],
    ["deployments of all namespaces", "/apis/apps/v1/deployments"],
    ["deployments of an environment before it bound its role", `/apis/apps/v1/namespaces/${ours}/deployments`],
    ["roles", `/apis/${rbacGroup}/v1/clusterroles`],
    ["custom resource definitions", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"],
  ])("read %s", async (_, path) => {
    await refused(platform.get(path), "cannot");
  });

  test("loosen its own bounds", async () => {
    const policy =
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/platform-namespaces.ephemeral-environments.dev";
    await refused(platform.delete(policy), "cannot delete");
    await refused(
      platform.patch(`/apis/${rbacGroup}/v1/clusterroles/ephemeral-environment`, { rules: [] }),
      "cannot patch",
    );
  });

  test("write Events of others, or about what is none of its business", async () => {
    const words = "the platform writes only Events of its own";
    const events = "/apis/events.k8s.io/v1/namespaces/default/events";
    const event = (kind: string, reportingController: string) => ({
      metadata: { name: unique("bounds-") },
      type: "Normal",
      reason: "Bounds",
      action: "Try",
      note: "a try",
      reportingController,
      reportingInstance: "test",
      eventTime: "2026-01-01T00:00:00.000000Z",
      regarding: { apiVersion: "v1", kind, name: "any", ...(kind === "Pod" ? { namespace: "default" } : {}) },
    });
    const series = { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" };
    const foreignEvent = event("Pod", "kubelet");
    await given(admin, events, foreignEvent);
    await refused(platform.patch(`${events}/${foreignEvent.metadata.name}`, { series }), words);
    await refused(platform.create(events, event("EphemeralEnvironment", "kubelet")), words);
    await refused(platform.create(events, event("Pod", "ephemeral-environments")), words);
    await refused(platform.get(events), "cannot list");
    const elsewhere = "/apis/events.k8s.io/v1/namespaces/kube-system/events";
    await refused(platform.create(elsewhere, event("EphemeralEnvironment", "ephemeral-environments")), "cannot create");
  });

  test("make a namespace that no environment could have", async () => {
    const all = `${paths.namespaces}?dryRun=All`;
    await refused(platform.create(all, namespaceObject("shop")), onlyOurs);
    await refused(platform.create(all, { metadata: { name: "env-shop" } }), onlyOurs);
    await refused(platform.create(all, namespaceObject("env-shop", "")), onlyOurs);
  });

  test("take over a foreign namespace by labelling it, or delete it", async () => {
    const path = `${paths.namespaces}/${foreign}`;
    await refused(platform.patch(path, { metadata: { labels: { [uidLabel]: uid } } }), onlyOurs);
    await refused(platform.delete(path), onlyOurs);
    await refused(platform.delete(`${paths.namespaces}/argocd`), onlyOurs);
  });

  test("make a namespace in which pods may do more, or let them", async () => {
    const words = "the platform's namespaces enforce Pod Security restricted";
    const unrestricted = { metadata: { name: "env-shop", labels: { [uidLabel]: uid } } };
    await refused(platform.create(`${paths.namespaces}?dryRun=All`, unrestricted), words);
    const weaker = { metadata: { labels: { "pod-security.kubernetes.io/enforce": "baseline" } } };
    await refused(platform.patch(`${paths.namespaces}/${ours}`, weaker), words);
  });

  test("give an environment's namespace to another environment, or away", async () => {
    const path = `${paths.namespaces}/${ours}`;
    await refused(platform.patch(path, { metadata: { labels: { [uidLabel]: "other" } } }), onlyOurs);
    await refused(platform.patch(path, { metadata: { labels: { [uidLabel]: null } } }), onlyOurs);
  });

  test.each([
    ["resourcequotas", "/api/v1", { hard: { pods: "0" } }],
    ["limitranges", "/api/v1", { limits: [] }],
    ["networkpolicies", "/apis/networking.k8s.io/v1", { podSelector: {} }],
  ])("write %s in a foreign namespace", async (plural, root, spec) => {
    const collection = `${root}/namespaces/${foreign}/${plural}`;
    const object = { metadata: { name: "foreign" }, spec };
    const words = "only in namespaces with the label";
    await refused(platform.create(collection, object), words);
    await given(admin, collection, object);
    await refused(platform.patch(`${collection}/foreign`, { metadata: { labels: { a: "b" } } }), words);
    await refused(platform.delete(`${collection}/foreign`), words);
  });

  test("write ServiceAccounts but that pods of an environment get no token by `default`", async () => {
    const accounts = (namespace: string) => `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const none = { automountServiceAccountToken: false };
    const elsewhere = "only in namespaces with the label";
    const nothingElse = "the platform writes of ServiceAccounts only default";
    const dry = (namespace: string) => `${accounts(namespace)}?dryRun=All`;
    await refused(platform.create(dry(foreign), { metadata: { name: "default" }, ...none }), elsewhere);
    await refused(platform.patch(`${accounts("kube-system")}/default`, none), elsewhere);
    await refused(platform.create(dry(ours), { metadata: { name: "other" }, ...none }), nothingElse);
    await refused(platform.patch(`${accounts("ephemeral-system")}/platform`, none), "cannot patch");
    await refused(platform.get(`${accounts("ephemeral-system")}/platform`), "cannot get");
    const account = `${accounts(ours)}/default`;
    await refused(platform.delete(account), "cannot delete");
    await until(async () => (await admin.get(account)).status === 200, { what: "the account" });
    // Another policy refuses that to everyone, and either may answer.
    const either = new RegExp(`${nothingElse}|of the ServiceAccount default is false in an environment`);
    const open = await platform.patch(account, { automountServiceAccountToken: true });
    expect(open).toMatchObject({ status: 403, message: expect.stringMatching(either) });
    for (const more of [
      { ...none, imagePullSecrets: [{ name: "registry" }] },
      { ...none, secrets: [{ name: "token" }] },
      { ...none, metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } } },
    ]) {
      await refused(platform.patch(account, more), nothingElse);
    }
    expect(await platform.patch(account, none)).toMatchObject({ status: 200 });
  });

  test.each([
    [
      "a mightier role",
      roleRef("ClusterRole", "cluster-admin"),
      "attempting to grant RBAC permissions not currently held",
    ],
    [
      "another role that it holds",
      roleRef("ClusterRole", "system:basic-user"),
      "binds only ClusterRole ephemeral-environment",
    ],
    [
      "its role to another user",
      { subjects: [{ apiGroup: rbacGroup, kind: "Group", name: "system:authenticated" }] },
      "the platform binds roles only to itself",
    ],
    [
      "its role to a ServiceAccount of the same name elsewhere",
      { subjects: [{ kind: "ServiceAccount", name: "platform", namespace: "default" }] },
      "the platform binds roles only to itself",
    ],
    [
      "its role to itself and others",
      { subjects: [...subjectsOf(roleBindingObject()), { apiGroup: rbacGroup, kind: "User", name: "me" }] },
      "the platform binds roles only to itself",
    ],
    ["its role to no subject", { subjects: [] }, "the platform binds roles only to itself"],
  ])("bind %s in an environment's namespace", async (_, change, words) => {
    const reply = await platform.create(`${paths.roleBindings(ours)}?dryRun=All`, roleBindingObject(change));
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test("change or end what is in an environment's namespace, but for finalizers while that namespace is being deleted", async () => {
    const name = unique("env-bounds-");
    await given(platform, paths.namespaces, namespaceObject(name));
    const binding = `${paths.roleBindings(name)}/platform`;
    await given(platform, paths.roleBindings(name), roleBindingObject());
    await given(admin, paths.secrets(name), { metadata: { name: "theirs", finalizers: ["example.test/hold"] } });
    const configMap = `/api/v1/namespaces/${name}/configmaps/theirs`;
    const finalizers = ["example.test/hold", "example.test/other"];
    await given(admin, `/api/v1/namespaces/${name}/configmaps`, { metadata: { name: "theirs", finalizers } });
    const living = "only while that namespace is being deleted";
    const secret = `${paths.secrets(name)}/theirs`;
    const mayPatch = async () => (await platform.patch(secret, {})).message.includes(living);
    await until(mayPatch, { what: "the rights of the binding" });
    for (const path of [secret, configMap]) {
      await refused(platform.patch(path, { metadata: { finalizers: null } }), living);
      await refused(platform.patch(path, { data: { a: "eA==" } }), living);
    }

    await platform.patch(binding, { metadata: { finalizers: ["ephemeral-environments.dev/teardown"] } });
    expect(await platform.delete(`${paths.namespaces}/${name}`)).toMatchObject({ status: 200 });
    const nothingElse = "but takes finalizers off";
    const changes = [
      { data: { a: "eA==" } },
      { metadata: { labels: { a: "b" } } },
      { metadata: { annotations: { a: "b" } } },
      { metadata: { finalizers: ["example.test/hold", "example.test/mine"] } },
      { metadata: { finalizers: ["example.test/hold"] }, data: { a: "eA==" } },
    ];
    for (const change of changes) await refused(platform.patch(configMap, change), nothingElse);
    for (const left of [["example.test/other"], []]) {
      const change = { metadata: { finalizers: left } };
      expect(await platform.patch(configMap, change)).toMatchObject({ status: 200 });
    }
    expect(await platform.patch(secret, { metadata: { finalizers: [] } })).toMatchObject({ status: 200 });
    expect(await platform.patch(binding, { metadata: { finalizers: [] } })).toMatchObject({ status: 200 });
  }, 60_000);

  test("change a PersistentVolume but for the reclaim policy of one that an environment has", async () => {
    const path = "/api/v1/persistentvolumes";
    const volume = async (namespace?: string) => {
      const name = unique("bounds-");
      const claimRef = namespace && { apiVersion: "v1", kind: "PersistentVolumeClaim", name: "data", namespace };
      const access = { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] };
      const source = { csi: { driver: "csi.example.test", volumeHandle: name } };
      const spec = { ...access, ...source, persistentVolumeReclaimPolicy: "Retain", ...(claimRef && { claimRef }) };
      await given(admin, path, { metadata: { name }, spec });
      await admin.patch(`${path}/${name}`, { metadata: { finalizers: null } });
      return `${path}/${name}`;
    };
    const toDelete = { spec: { persistentVolumeReclaimPolicy: "Delete" } };
    const theirs = [await volume(), await volume("default"), await volume("prod-env-shop")];
    for (const one of theirs) await refused(platform.patch(one, toDelete), "only PersistentVolumes that a claim");
    const own = await volume(ours);
    const changes = [
      { spec: { persistentVolumeReclaimPolicy: "Recycle" } },
      { spec: { persistentVolumeReclaimPolicy: "Delete", claimRef: null } },
      { spec: { persistentVolumeReclaimPolicy: "Delete", mountOptions: ["suid"] } },
      { spec: { persistentVolumeReclaimPolicy: "Delete", capacity: { storage: "2Gi" } } },
      ...[{ labels: { a: "b" } }, { annotations: { a: "b" } }, { finalizers: ["example.test/hold"] }].map(
        (metadata) => ({
          ...toDelete,
          metadata,
        }),
      ),
    ];
    for (const change of changes) await refused(platform.patch(own, change), "but its reclaim policy, to Delete");
    await refused(platform.patch(`${own}/status`, { status: { phase: "Failed" } }), "cannot patch");
    await refused(platform.delete(own), "cannot delete");
    await refused(platform.get(path), "cannot list");
    expect(await platform.patch(own, toDelete)).toMatchObject({ status: 200 });
    for (const one of [...theirs, own]) await admin.delete(one);
  });

  test("bind its role anywhere else", async () => {
    const words = "the platform binds roles only in namespaces with the label";
    for (const namespace of [foreign, "kube-system", "ephemeral-secrets"]) {
      await refused(platform.create(paths.roleBindings(namespace), roleBindingObject()), words);
    }
  });
});

function roleRef(kind: string, name: string): object {
  return { roleRef: { apiGroup: rbacGroup, kind, name } };
}

function subjectsOf(binding: object): readonly object[] {
  return (binding as { subjects: readonly object[] }).subjects;
}

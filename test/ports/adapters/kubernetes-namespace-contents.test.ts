import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import { kubernetesNamespaceContents } from "../../../operator/adapters/kubernetes/namespace-contents.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { namespaceKind, podKind, wireKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeResponse, RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { until } from "../../support/fixtures/until.ts";
import { claimDraft, claims, givenVolume, volumes } from "../../support/fixtures/volumes.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { unique } from "../../support/plane/people.ts";
import { namespaceContentsSuite } from "../suites/namespace-contents.suite.ts";

const plane = await controlPlane();

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const policies = wireKind({ ...admission, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" });
const bindings = wireKind({
  ...admission,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
});

const HOLD = "example.test/hold";

/** An error of the API server. */
const answer = (status: number, message = `answer ${status}`): KubeResponse => {
  return { status, headers: {}, body: { kind: "Status", code: status, message } };
};

/** The API server's answer while the server of its first group is away. */
async function stale(answer: KubeResponse): Promise<KubeResponse> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.stream ?? []) chunks.push(chunk);
  const replaced = Buffer.concat(chunks).toString().replace('"freshness":"Current"', '"freshness":"Stale"');
  return { ...answer, stream: Readable.from([Buffer.from(replaced)]) };
}

test("a list is not complete while the server of a group is away", async () => {
  let isAway = true;
  const onRequest: RequestInterceptor = async ({ path }, next) =>
    isAway && path === "/apis" ? stale(await next()) : next();
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken), onRequest });
  const contents = kubernetesNamespaceContents(client, systemClock);
  const owner = { name: unique("none-"), uid: randomUUID() };
  expect((await contents.list(owner)).isComplete).toBe(false);
  isAway = false;
  expect((await contents.list(owner)).isComplete).toBe(true);
  await client.close();
});

test.each([400, 429, 500, 503])("a kind whose server answers with %i is one that is not known", async (status) => {
  const onRequest: RequestInterceptor = async ({ verb, type }, next) =>
    verb === "list" && type?.kind === "ConfigMap" ? answer(status) : next();
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken), onRequest });
  const listed = await kubernetesNamespaceContents(client, systemClock).list({
    name: unique("none-"),
    uid: randomUUID(),
  });
  expect(listed).toEqual({ contents: [], isComplete: false });
  await client.close();
});

test("a webhook that can't be reached refuses, and an API server that fails or is overloaded does not", async () => {
  const sentence = 'Internal error occurred: failed calling webhook "guard.example.test": EOF';
  let refusal = answer(500, sentence);
  const onRequest: RequestInterceptor = async ({ verb }, next) => (verb === "patch" ? refusal : next());
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken), onRequest });
  const contents = kubernetesNamespaceContents(client, systemClock);
  const owner = { name: unique("none-"), uid: randomUUID() };
  const object = { name: "held", uid: randomUUID(), resourceVersion: "1", finalizers: [HOLD], isDeleted: true };
  const content = { ...object, kind: configMaps };
  expect(await contents.release(owner, content, [HOLD])).toBe(sentence);
  for (const status of [500, 503]) {
    refusal = answer(status);
    await expect(contents.release(owner, content, [HOLD])).rejects.toThrow(`${status}`);
  }
  await client.close();
});

test("a pod whose end is refused remains", async () => {
  let status = 403;
  const metadata = { name: "kept", namespace: "env-kept", uid: randomUUID(), resourceVersion: "1" };
  const pod = { metadata, spec: {} };
  const onRequest: RequestInterceptor = async ({ verb, type }, next) => {
    if (type?.kind !== "Pod") return next();
    const pods = { metadata: { resourceVersion: "1" }, items: [pod] };
    return verb === "list" ? { status: 200, headers: {}, body: pods } : answer(status);
  };
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken), onRequest });
  const contents = kubernetesNamespaceContents(client, systemClock);
  const owner = { name: unique("none-"), uid: randomUUID() };
  expect(await contents.endPods(owner, 25)).toBe(1);
  status = 503;
  await expect(contents.endPods(owner, 25)).rejects.toThrow(/503/);
  await client.close();
});

namespaceContentsSuite("on Kubernetes", async () => {
  let overloaded: string | undefined;
  const onRequest: RequestInterceptor = async (request, next) => {
    const isOverloaded = request.verb === "list" && request.type?.kind === overloaded;
    return isOverloaded ? answer(503) : next();
  };
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken), onRequest });
  const namespaces: string[] = [];
  const made: string[] = [];
  return {
    contents: kubernetesNamespaceContents(client, systemClock),
    async makeNamespace(name) {
      await client.create(namespaceKind, { metadata: { name } });
      namespaces.push(name);
    },
    async makeOwnedNamespace(name, { uid }) {
      await given(callsAs(plane, { token: plane.platform.token }), paths.namespaces, namespaceObject(name, uid));
      namespaces.push(name);
    },
    annotationsOf: async (name) => (await client.find(namespaceKind, { name }))?.metadata.annotations ?? {},
    versionOf: async (name) => (await client.find(namespaceKind, { name }))?.metadata.resourceVersion,
    overload(kind) {
      overloaded = kind;
      return () => {
        overloaded = undefined;
      };
    },
    async makeConfigMap(ref, finalizers) {
      await client.create(configMaps, { metadata: { ...ref, finalizers } });
    },
    finalizersOf: async (ref) => {
      const found = await client.find(configMaps, ref);
      return found && (found.metadata.finalizers ?? []);
    },
    async deleteConfigMap(ref) {
      await client.delete(configMaps, ref);
    },
    async refuseChanges({ name, namespace }, word) {
      const ref = { name: `refuse-${namespace}` };
      const resourceRules = [
        {
          apiGroups: [""],
          apiVersions: ["v1"],
          resources: ["configmaps"],
          operations: ["UPDATE"],
          scope: "Namespaced",
        },
      ];
      const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
      const validations = [{ expression: `object.metadata.name != '${name}'`, reason: "Invalid", message: word }];
      const matchConstraints = { namespaceSelector, resourceRules };
      await client.create(policies, { metadata: ref, spec: { matchConstraints, validations } });
      await client.create(bindings, { metadata: ref, spec: { policyName: ref.name, validationActions: ["Deny"] } });
      const changed = { metadata: { labels: { changed: "true" } } };
      const isRefused = () =>
        client.patch(configMaps, { name, namespace }, changed, { as: "merge" }).then(
          () => false,
          () => true,
        );
      await until(isRefused, { what: "the policy being in force" });
      return async () => {
        await client.delete(bindings, ref);
        await client.delete(policies, ref);
        await until(async () => !(await isRefused()), { what: "the policy being gone" });
      };
    },
    async makePod(ref, terminationGracePeriodSeconds) {
      const containers = [{ name: "main", image: "example.test/none" }];
      // A pod without a node is deleted at once.
      const spec = { containers, terminationGracePeriodSeconds, nodeName: "a-node" };
      // A new namespace gets its service account a moment later.
      const make = () =>
        client.create(podKind, { metadata: ref, spec }).then(
          () => true,
          () => false,
        );
      await until(make, { what: `pod ${ref.name} being made` });
    },
    async deletePod(ref) {
      await client.delete(podKind, ref);
    },
    graceOf: async (ref) => (await client.find(podKind, ref))?.metadata.deletionGracePeriodSeconds,
    async makeVolume(ref, volume, policy, annotations) {
      const claim = await client.create(claims, claimDraft(ref, volume));
      made.push(volume);
      return givenVolume(client, claim, { name: volume, policy, annotations });
    },
    policyOf: async (name) => (await client.find(volumes, { name }))?.spec?.persistentVolumeReclaimPolicy,
    async stop() {
      for (const name of made) await client.delete(volumes, { name });
      for (const name of namespaces) await client.delete(namespaceKind, { name });
      await client.close();
    },
  };
});

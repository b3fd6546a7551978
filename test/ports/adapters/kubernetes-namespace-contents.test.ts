import { Readable } from "node:stream";
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
import { namespaceContentsSuite } from "../suites/namespace-contents.suite.ts";

const plane = await controlPlane();

const admission = { group: "admissionregistration.k8s.io", version: "v1", namespaced: false };
const policies = wireKind({ ...admission, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies" });
const bindings = wireKind({
  ...admission,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
});

/** The API server's answer while the server of its first group is away. */
async function stale(answer: KubeResponse): Promise<KubeResponse> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.stream ?? []) chunks.push(chunk);
  const replaced = Buffer.concat(chunks).toString().replace('"freshness":"Current"', '"freshness":"Stale"');
  return { ...answer, stream: Readable.from([Buffer.from(replaced)]) };
}

namespaceContentsSuite("on Kubernetes", async () => {
  let isGroupAway = false;
  let overloaded: string | undefined;
  const onRequest: RequestInterceptor = async (request, next) => {
    const isOverloaded = request.verb === "list" && request.type?.kind === overloaded;
    if (isGroupAway && request.path === "/apis") return stale(await next());
    return isOverloaded ? { status: 503, headers: {}, body: { kind: "Status", code: 503 } } : next();
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
    loseGroup() {
      isGroupAway = true;
      return () => {
        isGroupAway = false;
      };
    },
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

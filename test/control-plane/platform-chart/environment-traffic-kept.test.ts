import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../deploy/local/kubernetes/helm.ts";
import { renderPlatformChart } from "../../../deploy/local/platform/chart.ts";
import { administrator, unique } from "../../support/faults/people.ts";
import { given, paths } from "../../support/fixtures/environment/environment-objects.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/http/api-calls.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

const namespace = unique("kept-");
const admission = "/apis/admissionregistration.k8s.io/v1";
/** One that no controller of the control plane lifts before the test does. */
const finalizer = "test.example/held";
const collector = { user: "system:serviceaccount:kube-system:generic-garbage-collector", groups: ["system:masters"] };

const backend = { service: { name: "web", port: { number: 80 } } };
const http = { paths: [{ path: "/", pathType: "Prefix", backend }] };
const ingress = {
  metadata: { annotations: { kept: "yes" } },
  spec: { rules: [{ host: "web.former.localhost", http }] },
};
const nodePort = {
  metadata: {},
  spec: { type: "NodePort", ports: [{ port: 80 }] },
};
const objects: readonly [what: string, path: string, object: { metadata: object }, worse: object][] = [
  ["Ingress", paths.ingresses(namespace), ingress, { spec: { rules: [{ host: "shop.env.localhost", http }] } }],
  ["Service", paths.services(namespace), nodePort, { spec: { externalTrafficPolicy: "Local" } }],
];

/** The chart's policies under other names, for the namespace of this suite only: it stands for one of ours. */
async function copies(): Promise<{ policies: Manifest[]; bindings: Manifest[] }> {
  const settings: object = testSettings;
  const chart = await renderPlatformChart(settings, await helmProgram());
  const ofTraffic = chart.policies.filter(({ metadata }) => /^environment-(ingress|service)\./.test(metadata.name));
  const renamed = (name: string) => `${namespace}.${name}`;
  const selector = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  const copy = ({ kind, metadata, ...rest }: Manifest): Manifest => {
    const spec = rest.spec as { policyName: string; matchConstraints: object };
    const changed =
      kind === "ValidatingAdmissionPolicy"
        ? { ...spec, matchConstraints: { ...spec.matchConstraints, ...selector } }
        : { ...spec, policyName: renamed(spec.policyName) };
    return { ...rest, kind, metadata: { name: renamed(metadata.name) }, spec: changed };
  };
  const made = ofTraffic.map(copy);
  return {
    policies: made.filter(({ kind }) => kind === "ValidatingAdmissionPolicy"),
    bindings: made.filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding"),
  };
}

describe("what an environment answered to before the rules changed", () => {
  let admin: ApiCalls;
  let made: Awaited<ReturnType<typeof copies>>;

  beforeAll(async () => {
    admin = administrator(plane);
    made = await copies();
    await given(admin, paths.namespaces, { metadata: { name: namespace } });
    for (const [, path, object] of objects) {
      await given(admin, path, { ...object, metadata: { ...object.metadata, name: "staying" } });
      await given(admin, path, { ...object, metadata: { ...object.metadata, name: "going", finalizers: [finalizer] } });
    }
    for (const policy of made.policies) await given(admin, `${admission}/validatingadmissionpolicies`, policy);
    for (const binding of made.bindings) await given(admin, `${admission}/validatingadmissionpolicybindings`, binding);
    for (const [what, path, object] of objects) {
      const again = { ...object, metadata: { name: "again" } };
      const check = async () => (await admin.create(`${path}?dryRun=All`, again)).status === 403;
      await until(check, { what: `the rules for an ${what} to hold`, deadlineMs: 20_000 });
    }
  }, 60_000);

  test.each(objects)("%s: may be labelled, but not become worse", async (_, path, __, worse) => {
    expect(await admin.patch(`${path}/staying`, { metadata: { labels: { seen: "yes" } } })).toMatchObject({
      status: 200,
    });
    expect(await admin.patch(`${path}/staying`, worse)).toMatchObject({ status: 403 });
    const annotated = await admin.patch(`${path}/staying`, { metadata: { annotations: { more: "yes" } } });
    expect(annotated).toMatchObject({ status: 403 });
  });

  test.each(objects)("%s: let go by the garbage collector when it is being deleted", async (_, path) => {
    expect(await admin.delete(`${path}/going`)).toMatchObject({ status: 200 });
    const reply = await callsAs(plane, collector).patch(`${path}/going`, { metadata: { finalizers: null } });
    expect(reply).toMatchObject({ status: 200 });
    expect(await admin.get(`${path}/going`)).toMatchObject({ status: 404 });
  });
});

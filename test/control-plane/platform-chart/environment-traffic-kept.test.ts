import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { type CopiedPolicies, copiedPolicies } from "../../support/plane/chart/copied-policies.ts";
import { given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const namespace = unique("kept-");
/** A finalizer that only the test removes. */
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

describe("what an environment answered to before the rules changed", () => {
  let admin: ApiCalls;
  let copies: CopiedPolicies;

  beforeAll(async () => {
    admin = administrator(plane);
    await given(admin, paths.namespaces, { metadata: { name: namespace } });
    for (const [, path, object] of objects) {
      await given(admin, path, { ...object, metadata: { ...object.metadata, name: "staying" } });
      await given(admin, path, { ...object, metadata: { ...object.metadata, name: "going", finalizers: [finalizer] } });
    }
    copies = await copiedPolicies(admin, { names: ["environment-ingress", "environment-service"], namespace });
    for (const [what, path, object] of objects) {
      const again = { ...object, metadata: { name: "again" } };
      const check = async () => (await admin.create(`${path}?dryRun=All`, again)).status === 403;
      await until(check, { what: `the rules for an ${what} to hold`, deadlineMs: 20_000 });
    }
  }, 60_000);

  afterAll(async () => {
    await copies.remove();
    await admin.delete(`${paths.namespaces}/${namespace}`);
  });

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

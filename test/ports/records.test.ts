import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { completeRecord } from "../../crds/environment/environment-record.ts";
import { recordType } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRecords } from "../../operator/adapters/kubernetes/records/environment-records.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../operator/kit/client/kube-client.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { administrator, unique } from "../support/plane/people.ts";
import { recordFixture, recordsSuite } from "./suites/records.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";

let client: KubeClient;
beforeAll(async () => {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  client = createKubeClient({ kubeConfig });
}, 60_000);
afterAll(() => client.close());

const objectsOf = async (environment: string) => {
  const labelSelector = `ephemeral-environments.dev/environment=${environment}`;
  return (await client.list(recordType, { namespace, labelSelector })).items;
};
const forget = async (environment: string) => {
  for (const { metadata } of await objectsOf(environment)) await client.delete(recordType, metadata);
};

recordsSuite("on Kubernetes", async () => ({
  records: kubernetesRecords({ client, namespace }, 3),
  kept: async (environment) => (await objectsOf(environment)).map((record) => completeRecord(record)),
  forget,
  stop: async () => undefined,
}));

test("records can't be changed, by administrators neither", async () => {
  const one = recordFixture(unique("recorded-"), 1);
  await kubernetesRecords({ client, namespace }).keep(one);
  const path = `/apis/ephemeral-environments.dev/v1/namespaces/${namespace}/environmentrecords/${one.uid}`;
  const reply = await administrator(plane).patch(path, { spec: { reason: "expired" } });
  expect(reply).toMatchObject({ status: 422, message: expect.stringContaining("a record is never changed") });
  await forget(one.name);
});

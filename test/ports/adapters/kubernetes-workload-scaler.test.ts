import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { kubernetesWorkloadScaler } from "../../../operator/adapters/kubernetes/workload-scaler.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  startFakeApiServer,
  status,
} from "../../support/doubles/fake-api-server.ts";

let server: FakeApiServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const APPS = "/apis/apps/v1/namespaces/env-shop";
const on = (path: string, answer: Answer) => server.on((request) => request.path === `${APPS}/${path}/scale`, answer);
const scaled = json({ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "x" }, spec: { replicas: 1 } });
const wake = () =>
  kubernetesWorkloadScaler(client).scaleFromZero({ name: "shop", uid: "u" }, [
    { kind: "StatefulSet", name: "database", replicas: 1 },
    { kind: "Deployment", name: "backend", replicas: 3 },
  ]);

test("each workload is given its number of pods", async () => {
  on("statefulsets/database", scaled);
  on("deployments/backend", scaled);
  await wake();
  const sent = server.seen.map(({ method, path, body }) => ({ method, path, body: JSON.parse(body) }));
  expect(sent).toEqual([
    { method: "PATCH", path: `${APPS}/statefulsets/database/scale`, body: { spec: { replicas: 1 } } },
    { method: "PATCH", path: `${APPS}/deployments/backend/scale`, body: { spec: { replicas: 3 } } },
  ]);
});

test.each([404, 403])("one that is not there or has pods (%i) keeps no other from its pods", async (code) => {
  on("statefulsets/database", status(code, code === 404 ? "NotFound" : "Forbidden"));
  on("deployments/backend", scaled);
  await expect(wake()).resolves.toBeUndefined();
  expect(server.seen).toHaveLength(2);
});

test("any other failure is an error", async () => {
  on("statefulsets/database", scaled);
  on("deployments/backend", status(500, "InternalError"));
  await expect(wake()).rejects.toThrow("InternalError");
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { KubeConfig } from "@kubernetes/client-node";
import { ENVIRONMENT_UID_LABEL } from "../../crds/group.ts";
import { secretStoreName } from "../../crds/names.ts";
import { kubernetesSecretManager } from "../../operator/adapters/kubernetes-secret-manager.ts";
import { secretKind } from "../../operator/kinds.ts";
import { createKubeClient, type KubeClient } from "../../operator/kit/kube-client.ts";
import type { RequestSeam } from "../../operator/kit/kube-request.ts";
import { type SecretManager, SecretManagerUnavailable, type SecretOwner } from "../../operator/ports/secret-manager.ts";
import { controlPlane } from "../support/control-plane.ts";
import { installPlatformChart } from "../support/platform-chart.ts";
import { newOwner, revealed, secretManagerSuite, wanted } from "./secret-manager.suite.ts";

const namespace = "ephemeral-secrets";

/** The embedded manager under the platform's own identity. */
async function embedded(onRequest?: RequestSeam): Promise<{ client: KubeClient; manager: SecretManager }> {
  const { kubeConfig } = await installPlatformChart(controlPlane());
  const client = createKubeClient({ kubeConfig, ...(onRequest ? { onRequest } : {}) });
  return { client, manager: kubernetesSecretManager({ client, namespace }) };
}

function adminClient(): KubeClient {
  const config = new KubeConfig();
  config.loadFromFile(controlPlane().kubeconfigPath);
  return createKubeClient({ kubeConfig: config });
}

secretManagerSuite("embedded", async () => {
  const [one, other] = [await embedded(), await embedded()];
  return {
    managers: [one.manager, other.manager],
    stop: () => Promise.all([one, other].map(({ client }) => client.close())).then(() => undefined),
  };
});

describe("the embedded secret manager", () => {
  let admin: KubeClient;
  let client: KubeClient;
  let manager: SecretManager;
  beforeAll(async () => {
    admin = adminClient();
    ({ client, manager } = await embedded());
  }, 60_000);
  afterAll(() => Promise.all([admin.close(), client.close()]));

  const place = (owner: SecretOwner) => ({ name: secretStoreName(owner), namespace });

  test("counts the highest version, as a number", async () => {
    const owner = newOwner();
    await manager.ensure(owner, wanted("A").requests);
    const data = Object.fromEntries(["9", "10", "2"].map((n) => [`A.${n}`, Buffer.from(n).toString("base64")]));
    await admin.patch(secretKind, place(owner), { data }, { as: "merge" });
    const stored = await manager.ensure(owner, wanted("A").requests);
    expect(stored.get("A")?.version).toBe(10);
    expect(revealed(stored)).toEqual({ A: "10" });
  });

  test("neither reads, changes nor removes a store of its name that is somebody else's", async () => {
    const owner = newOwner();
    const draft = {
      metadata: { ...place(owner), labels: { [ENVIRONMENT_UID_LABEL]: newOwner().uid } },
      data: { "A.1": "eA==" },
    };
    const before = await admin.create(secretKind, draft);
    await expect(manager.ensure(owner, wanted("A").requests)).rejects.toBeInstanceOf(SecretManagerUnavailable);
    await manager.remove(owner);
    expect(await manager.holdsAny(owner)).toBe(false);
    expect(await admin.find(secretKind, place(owner))).toEqual(before);
    await admin.delete(secretKind, place(owner));
  });

  test("is unavailable, and says no value, while the API server refuses", async () => {
    const body = (request: { body?: unknown }) => ({
      kind: "Status",
      reason: "Forbidden",
      message: JSON.stringify(request.body),
    });
    const refused = await embedded(async (request) => ({ status: 403, headers: {}, body: body(request) }));
    const value = wanted("A");
    const failure = await refused.manager.ensure(newOwner(), value.requests).catch((error: Error) => error);
    await refused.client.close();
    expect(failure).toBeInstanceOf(SecretManagerUnavailable);
    expect(value.generated()).toBe(1);
    expect(String(failure)).not.toMatch(/QS0/);
    expect(JSON.stringify(failure)).not.toMatch(/QS0/);
  });
});

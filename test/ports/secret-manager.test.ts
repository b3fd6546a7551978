import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ENVIRONMENT_UID_LABEL, SHARED_SECRET_LABEL } from "../../crds/group.ts";
import { secretStoreName } from "../../crds/names.ts";
import { kubernetesSecretManager } from "../../operator/adapters/kubernetes/secret-manager.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { secretKind } from "../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../operator/kit/client/kube-client.ts";
import type { RequestInterceptor } from "../../operator/kit/client/request.ts";
import type { Owner } from "../../operator/ports/cluster.ts";
import { type SecretManager, SecretManagerUnavailable } from "../../operator/ports/secret-manager.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { generatedRequests, newOwner, noOwner } from "./suites/secret-manager/scene.ts";
import { secretManagerSuite } from "./suites/secret-manager.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-secrets";

async function embedded(onRequest?: RequestInterceptor): Promise<{ client: KubeClient; manager: SecretManager }> {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  const client = createKubeClient({ kubeConfig, ...(onRequest ? { onRequest } : {}) });
  return { client, manager: kubernetesSecretManager({ client, namespace }) };
}

function adminClient(): KubeClient {
  const config = kubeConfigOf(plane, plane.adminToken);
  return createKubeClient({ kubeConfig: config });
}

secretManagerSuite("embedded", async () => {
  const [one, other, admin] = [await embedded(), await embedded(), adminClient()];
  const shared: string[] = [];
  return {
    managers: [one.manager, other.manager],
    async share({ id, labels, values }) {
      shared.push(id);
      const data = Object.fromEntries(
        values.map((value, index) => [String(index + 1), Buffer.from(value).toString("base64")]),
      );
      const metadata = { name: id, namespace, labels: { ...labels, [SHARED_SECRET_LABEL]: "true" } };
      await admin.create(secretKind, { metadata, data });
    },
    idOf: secretStoreName,
    async stop() {
      await Promise.all(shared.map((name) => admin.delete(secretKind, { name, namespace })));
      await Promise.all([one.client, other.client, admin].map((client) => client.close()));
    },
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

  const place = (owner: Owner) => ({ name: secretStoreName(owner), namespace });

  test("makes a new environment's store with one call", async () => {
    const calls: string[] = [];
    const counted = await embedded((request, next) => {
      calls.push(request.verb);
      return next();
    });
    await counted.manager.ensure(newOwner(), generatedRequests("A", "B").requests);
    await counted.client.close();
    expect(calls).toEqual(["create"]);
  });

  test("takes no Secret for a shared one that does not say so", async () => {
    const name = `unsaid-${newOwner().uid}`;
    await admin.create(secretKind, { metadata: { name, namespace }, data: { "1": "eA==" } });
    expect(await manager.shared(name)).toBeUndefined();
    expect(await manager.read(name, 1)).toBeUndefined();
    await admin.delete(secretKind, { name, namespace });
  });

  test.each([
    ["as it is", {}],
    ["even if a user labels it so", { [SHARED_SECRET_LABEL]: "true" }],
  ])("shares no environment's store, %s", async (_how, labels) => {
    const owner = newOwner();
    await manager.ensure(owner, generatedRequests("A").requests);
    // With the form of a shared secret's first version.
    await admin.patch(secretKind, place(owner), { metadata: { labels }, data: { "1": "eA==" } }, { as: "merge" });
    const { name } = place(owner);
    expect(await manager.shared(name)).toBeUndefined();
    expect(await manager.read(name, "latest")).toBeUndefined();
    expect(await manager.read(name, 1)).toBeUndefined();
  });

  test("asks for no value to find owners, to judge, to look whether anything is left, or to remove", async () => {
    const owner = newOwner();
    await manager.ensure(owner, generatedRequests("A").requests);
    const bodies: string[] = [];
    const watched = await embedded(async (request, next) => {
      const answer = await next();
      if (request.verb !== "delete") bodies.push(JSON.stringify(answer.body));
      return answer;
    });
    await watched.manager.owners(noOwner);
    await watched.manager.shared(place(owner).name);
    await watched.manager.holdsAny(owner, []);
    await watched.manager.remove(owner, []);
    await watched.client.close();
    expect(bodies.length).toBeGreaterThanOrEqual(4);
    for (const body of bodies) expect(body).not.toMatch(/"data"/);
    expect(await manager.holdsAny(owner, [])).toBe(false);
  });

  test("ignores a copy of a store", async () => {
    const owner = newOwner();
    await manager.ensure(owner, generatedRequests("A").requests);
    const copy = { name: `copy-of-${place(owner).name}`, namespace };
    const labels = (await admin.find(secretKind, place(owner)))?.metadata.labels ?? {};
    await admin.create(secretKind, { metadata: { ...copy, labels } });
    await manager.remove(owner, ["A"]);
    expect((await manager.owners(noOwner)).map(({ uid }) => uid)).not.toContain(owner.uid);
    await admin.delete(secretKind, copy);
  });

  test("neither reads, changes nor removes a foreign store of its name", async () => {
    const owner = newOwner();
    const draft = {
      metadata: { ...place(owner), labels: { [ENVIRONMENT_UID_LABEL]: newOwner().uid } },
      data: { "A.1": "eA==" },
    };
    const before = await admin.create(secretKind, draft);
    await expect(manager.ensure(owner, generatedRequests("A").requests)).rejects.toBeInstanceOf(
      SecretManagerUnavailable,
    );
    await manager.remove(owner, []);
    expect(await manager.holdsAny(owner, [])).toBe(false);
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
    const value = generatedRequests("A");
    const failure = await refused.manager.ensure(newOwner(), value.requests).catch((error: Error) => error);
    await refused.client.close();
    expect(failure).toBeInstanceOf(SecretManagerUnavailable);
    expect(value.generated()).toHaveLength(1);
    expect(String(failure)).not.toMatch(/QS0/);
    expect(JSON.stringify(failure)).not.toMatch(/QS0/);
  });
});

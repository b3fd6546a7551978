import { afterAll, afterEach, expect, jest, test } from "@jest/globals";
import { ask } from "../support/api.ts";
import { create, Environments, find, madeFor, untilGone, untilReady } from "../support/environments.ts";
import { apply, list, waitFor } from "../support/kubectl.ts";
import { killOperator, pauseSupervisor, resumeSupervisor, untilOperatorServes } from "../support/operator.ts";
import { open } from "../support/page.ts";
import { podSecret, storedSecrets } from "../support/secrets.ts";
import { TEST_DEADLINE_MS } from "../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterEach(resumeSupervisor);
afterAll(() => environments.removeAll());

test("an operator that dies is started again, with another pid, and serves", async () => {
  const killed = await killOperator();
  expect(await untilOperatorServes(killed)).not.toBe(killed);
  expect((await ask("GET", "/environments")).status).toBe(200);
});

test("an operator that is killed while it creates goes on after its restart: same environment, same secrets", async () => {
  const name = environments.name("killed");
  const waiting = environments.name("unseen");
  const id = await create(name);
  await waitFor(["--for=jsonpath={.status.podSecrets[0]}", `eenv/${name}`], 30);
  await pauseSupervisor();
  const killed = await killOperator();
  // Without an operator the state stays as at the kill, which must be in the middle of the creation.
  expect((await find(name)).status?.readyAt).toBeUndefined();
  const [secret, stored] = await Promise.all([podSecret(name), storedSecrets(id)]);
  expect(stored).toHaveLength(1);
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name: waiting },
    spec: { ttlHours: 1, backend: { repository: "sample-backend", branch: "main" } },
  });

  await resumeSupervisor();
  await untilOperatorServes(killed);
  const ready = await untilReady(name);
  expect(ready.metadata.uid).toBe(id);
  expect(await podSecret(name)).toEqual(secret);
  expect(await storedSecrets(id)).toEqual(stored);
  await expectOneOfEverything(name, id);
  expect((await open(ready.status?.urls?.frontend ?? "")).status).toBe(200);
  // An environment created without an operator is not lost.
  await untilReady(waiting);
});

test("an operator that is killed while it deletes finishes after its restart", async () => {
  const name = environments.name("leaving");
  const id = await create(name);
  await untilReady(name);
  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await waitFor(["--for=jsonpath={.status.phase}=terminating", `eenv/${name}`], 30);
  await pauseSupervisor();
  const killed = await killOperator();
  // The finalizer keeps it, with remaining objects, until an operator finishes.
  expect((await find(name)).metadata.uid).toBe(id);
  expect(await madeFor(id)).not.toEqual([]);

  await resumeSupervisor();
  await untilOperatorServes(killed);
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
});

/** Found by the owner's label and by name: no duplicate, no object of another owner. */
async function expectOneOfEverything(name: string, id: string): Promise<void> {
  const found = await madeFor(id);
  expect(found).toEqual([
    `AppProject argocd/env-${name}`,
    `Application argocd/env-${name}`,
    `Deployment env-${name}/backend`,
    `Deployment env-${name}/frontend`,
    `LimitRange env-${name}/environment`,
    `Namespace /env-${name}`,
    `NetworkPolicy env-${name}/allowed-traffic`,
    `NetworkPolicy env-${name}/default-deny`,
    `ResourceQuota env-${name}/environment`,
    `ResourceQuota env-${name}/priority-classes`,
    expect.stringMatching(`^Secret env-${name}/environment-secrets-[0-9a-f]{8}$`),
    expect.stringMatching(`^Secret ephemeral-secrets/${name}-[0-9a-f]{8}$`),
  ]);
  const pods = await list("pods", `--namespace=env-${name}`);
  expect(pods).toHaveLength(2);
}

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/ephemeral-environment.ts";
import { DomainError, EnvironmentConflict } from "../../../../crds/errors.ts";
import { kubernetesEnvironments } from "../../../../operator/adapters/kubernetes-environments.ts";
import { createKubeClient, type KubeClient } from "../../../../operator/kit/kube-client.ts";
import { KubeError } from "../../../../operator/kit/kube-errors.ts";
import { silentLog } from "../../../../operator/kit/log.ts";
import { createObjectCache } from "../../../../operator/kit/object-cache.ts";
import type { Environments } from "../../../../operator/ports/environments.ts";
import { environmentFixture } from "../../../support/environment-fixture.ts";
import { type Answer, type FakeApiServer, json, startFakeApiServer, status } from "../../../support/fake-api-server.ts";
import { TestClock } from "../../../support/test-clock.ts";

const environment = environmentFixture();

let server: FakeApiServer;
let client: KubeClient;
let environments: Environments;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  const clock = new TestClock();
  const cache = createObjectCache<EphemeralEnvironment>({ log: silentLog, clock });
  environments = kubernetesEnvironments({ client, cache, clock });
});

afterEach(async () => {
  await client.close();
  await server.close();
});

const answer = (method: string, given: Answer) => server.on((request) => request.method === method, given);
const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe("a removal that the API server forbids", () => {
  beforeEach(() => answer("DELETE", status(403, "Forbidden")));

  test("is a conflict when the environment is protected now, whatever was read before", async () => {
    answer("GET", json(environmentFixture({ spec: { protected: true } })));
    expect(await failureOf(environments.remove(environment))).toBeInstanceOf(EnvironmentConflict);
  });

  test("is a fault with its cause when it is not protected: somebody else forbids it", async () => {
    answer("GET", json(environment));
    const error = await failureOf(environments.remove(environmentFixture({ spec: { protected: true } })));
    expectFault(error);
  });

  test("is none when the environment is gone, or its name has passed to another", async () => {
    answer("GET", json(environmentFixture({ metadata: { uid: "ffffffff-1111-4222-8333-444455556666" } })));
    expect(await environments.remove(environment)).toBe("removing");
    expect(await environments.remove(environment, { onlyThisVersion: true })).toBe("changed");
  });
});

test("an extension that the API server forbids is a fault with its cause", async () => {
  answer("PATCH", status(403, "Forbidden"));
  expectFault(await failureOf(environments.extend(environment, { ttlHours: 48 })));
});

function expectFault(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(DomainError);
  expect(error).not.toBeInstanceOf(KubeError);
  expect((error as Error).cause).toMatchObject({ status: 403, reason: "Forbidden" });
}

import { afterEach, beforeEach } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { kubernetesEnvironments } from "../../../../../../operator/adapters/kubernetes/environments/environments.ts";
import { createObjectCache } from "../../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../../operator/kit/cache/object-cache.ts";
import { createKubeClient } from "../../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../../operator/kit/client/kube-client.ts";
import { ownDeletions } from "../../../../../../operator/kit/client/own-deletions.ts";
import type { Environments } from "../../../../../../operator/ports/api/environments.ts";
import { BY_CREATION_KEY, BY_UID } from "../../../../../../operator/ports/caches.ts";
import { type Answer, type FakeApiServer, startFakeApiServer } from "../../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../../support/fixtures/silent-log.ts";

/** An environment for the cache. */
export const environment = environmentFixture();
/** The UID of no environment. */
export const UNKNOWN = "ffffffff-1111-4222-8333-444455556666";
/** The error of a call; `undefined` without one. */
export const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

/** Environments on a fake API server, behind a cache that the test fills; new for each test. */
export function cachedEnvironments() {
  let server: FakeApiServer;
  let client: KubeClient;
  let cache: ObjectCache<EphemeralEnvironment> & CacheFeed<EphemeralEnvironment>;
  let clock: TestClock;
  let environments: Environments;

  beforeEach(async () => {
    server = await startFakeApiServer();
    client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
    clock = new TestClock();
    cache = createObjectCache<EphemeralEnvironment>({
      log: silentLog,
      clock,
      indexes: { [BY_UID]: ({ metadata }) => [metadata.uid], [BY_CREATION_KEY]: () => [] },
    });
    environments = kubernetesEnvironments({ client, cache, clock, deletions: ownDeletions() });
  });

  afterEach(async () => {
    await client.close();
    await server.close();
  });

  const answer = (method: string, given: Answer) => server.on((request) => request.method === method, given);

  return {
    get server() {
      return server;
    },
    get client() {
      return client;
    },
    get cache() {
      return cache;
    },
    get clock() {
      return clock;
    },
    get environments() {
      return environments;
    },
    answer,
  };
}

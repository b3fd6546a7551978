import type { ConfigSet } from "../../crds/config-set.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { kubernetesConfigSets } from "../../operator/adapters/kubernetes/config-sets.ts";
import { configSetType, repositoryType } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRepositories } from "../../operator/adapters/kubernetes/repositories.ts";
import { kubernetesUnknownNames } from "../../operator/adapters/kubernetes/unknown-names.ts";
import { createObjectCache } from "../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { ownDeletions } from "../../operator/kit/client/own-deletions.ts";
import { memoryConfigSets } from "../support/doubles/memory/config-sets.ts";
import { aRepository, memoryRepositories } from "../support/doubles/memory/repositories.ts";
import { memoryUnknownNames } from "../support/doubles/memory/unknown-names.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { configSetFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { unknownNamesSuite } from "./suites/unknown-names.suite.ts";

const plane = await controlPlane();
const namespace = "ephemeral-system";
const START = "2026-06-01T12:00:00Z";

/** Watches that end after their first list: the latest possible ones. */
async function real() {
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.platform.token) });
  const admin = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.adminToken) });
  const caches = { repositories: createObjectCache<Repository>(), configSets: createObjectCache<ConfigSet>() };
  const watching = { client, log: silentLog, namespace };
  const reflectors = [
    createReflector({ ...watching, type: repositoryType, cache: caches.repositories }),
    createReflector({ ...watching, type: configSetType, cache: caches.configSets }),
  ];
  for (const reflector of reflectors) reflector.start();
  const inTime = AbortSignal.timeout(10_000);
  await Promise.all(Object.values(caches).map((cache) => cache.whenSynced(inTime)));
  await Promise.all(reflectors.map((reflector) => reflector.stop()));
  const clock = new TestClock(START);
  const made: (() => Promise<unknown>)[] = [];
  return {
    unknownNames: kubernetesUnknownNames({ client, caches, namespace, clock }),
    repositories: kubernetesRepositories(caches.repositories, namespace),
    configSets: kubernetesConfigSets({ client, cache: caches.configSets, namespace, deletions: ownDeletions() }),
    async register(name: string) {
      await admin.create(repositoryType, { metadata: { name, namespace }, spec: aRepository(name).spec });
      made.push(() => admin.delete(repositoryType, { name, namespace }));
    },
    async makeConfigSet(name: string) {
      await admin.create(configSetType, { metadata: { name, namespace }, spec: {} });
      made.push(() => admin.delete(configSetType, { name, namespace }));
    },
    advance: (ms: number) => clock.advance(ms),
    async stop() {
      await Promise.all(made.map((remove) => remove()));
      await Promise.all([client.close(), admin.close()]);
    },
  };
}

unknownNamesSuite("on the Kubernetes API, as the platform", real);
unknownNamesSuite("in memory", async () => {
  const clock = new TestClock(START);
  const [repositories, configSets] = [memoryRepositories(), memoryConfigSets()];
  const unknownNames = memoryUnknownNames({ repositories, configSets, clock });
  return {
    unknownNames,
    repositories,
    configSets,
    register: async (name) => unknownNames.registerLate(aRepository(name)),
    makeConfigSet: async (name) => unknownNames.makeLate(configSetFixture(name)),
    advance: (ms) => clock.advance(ms),
    stop: async () => undefined,
  };
});

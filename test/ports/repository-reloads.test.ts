import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../crds/errors.ts";
import { reconcileToken } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { repositoryType } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRepositoryReloads } from "../../operator/adapters/kubernetes/repositories.ts";
import { createObjectCache } from "../../operator/kit/cache/indexed-cache.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { type RepositoryHost, RepositoryHostUnavailable } from "../../operator/ports/repository-host.ts";
import { aRepository, memoryRepositories } from "../support/doubles/memory/repositories.ts";
import { memoryRepositoryReloads } from "../support/doubles/memory/repository-reloads.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { until } from "../support/fixtures/until.ts";
import { COMMIT, createWorld, type World } from "../support/worlds/environment-world.ts";
import { repositoryReloadsSuite } from "./suites/repository-reloads.suite.ts";

const namespace = "ephemeral-system";
const READY = {
  type: "Ready",
  status: "True" as const,
  reason: "Checked",
  message: "",
  observedGeneration: 1,
  lastTransitionTime: "2026-01-01T00:00:00.000Z",
};
const AWAY = "can't be asked: no answer within 10 s";

/** The operator under the platform's own identity; an unreachable host fails at once. */
async function real() {
  const world = await createWorld();
  const away = new Set<string>();
  const repositoryHost: RepositoryHost = {
    async head(cloneUrl) {
      if ([...away].some((name) => cloneUrl.includes(name))) throw new RepositoryHostUnavailable(AWAY);
      return COMMIT;
    },
  };
  const options = { onPorts: (context: object) => ({ ...context, repositoryHost }) as never };
  let running = await world.startOperator(options);
  return {
    world,
    reloads: {
      reload: () => running.operator.ports.repositoryReloads.reload(),
      request: (repository: Repository) => running.operator.ports.repositoryReloads.request(repository),
    },
    async restart() {
      await running.stop();
      running = await world.startOperator(options);
    },
    register: async (name: string) => {
      await world.register(name);
      await known(name, (found) => found !== undefined);
    },
    async change(name: string) {
      const patch = { spec: { port: 9090 } };
      const { metadata } = await world.admin.patch(repositoryType, { name, namespace }, patch, { as: "merge" });
      await known(name, (found) => found?.metadata.generation === metadata.generation);
    },
    async unregister(name: string) {
      await world.admin.delete(repositoryType, { name, namespace });
      await known(name, (found) => found === undefined);
    },
    setAway: (name: string, isAway: boolean) => void (isAway ? away.add(name) : away.delete(name)),
    stop: () => world.stop(),
  };

  async function known(name: string, isSo: (found: Repository | undefined) => boolean): Promise<void> {
    await until(() => isSo(running.operator.ports.repositories.find(name)), { what: `'${name}' to be known as it is` });
  }
}

repositoryReloadsSuite("on the Kubernetes API, with the operator", real);
repositoryReloadsSuite("in memory", async () => {
  const repositories = memoryRepositories(aRepository("test-backend"));
  const reloads = memoryRepositoryReloads(repositories);
  return {
    reloads,
    register: async (name) => repositories.put(aRepository(name)),
    async change(name) {
      const { metadata, ...found } = repositories.find(name) as Repository;
      repositories.put({ ...found, metadata: { ...metadata, generation: metadata.generation + 1 } });
    },
    unregister: async (name) => repositories.drop(name),
    setAway: (name, isAway) => reloads.find(name, isAway ? AWAY : undefined),
    stop: async () => undefined,
  };
});

describe("reloads on the Kubernetes API", () => {
  let scene: Awaited<ReturnType<typeof real>>;
  let world: World;
  beforeAll(async () => {
    scene = await real();
    world = scene.world;
  }, 60_000);
  afterAll(() => scene.stop(), 60_000);

  test("are compared with the one before also after a restart", async () => {
    await scene.reloads.reload();
    await scene.restart();
    expect(await scene.reloads.reload()).toMatchObject({ loaded: 1, added: [], updated: [], removed: [] });
  });

  test("report a Repository as unchecked after twenty seconds", async () => {
    const { reloads, clock, close } = await standing();
    const reloading = reloads.reload();
    await until(() => clock.pending.includes(20_000), { what: "the wait for the checks" });
    clock.advance(20_000);
    expect(await reloading).toMatchObject({
      loaded: 0,
      removed: [],
      errors: [{ name: "test-backend", message: expect.stringContaining("not checked") }],
    });
    await close();
    expect(await scene.reloads.reload()).toMatchObject({ loaded: 1, added: [], errors: [] });
  });

  test("take what is registered meanwhile as checked once it is", async () => {
    const { reloads, cache, clock, answer, close } = await standing();
    const reloading = reloads.reload();
    await until(() => clock.pending.includes(20_000), { what: "the wait for the checks" });
    const late = aRepository("registered-late");
    cache.upsert(late);
    await answer();
    const checked = { observedGeneration: 1, lastCheckedAt: clock.now().toISOString(), conditions: [READY] };
    cache.upsert({ ...late, metadata: { ...late.metadata, resourceVersion: "2" }, status: checked });
    expect(await reloading).toMatchObject({ loaded: 2, added: ["registered-late"], errors: [] });
    await close();
    expect(await scene.reloads.reload()).toMatchObject({ loaded: 1, removed: ["registered-late"] });
  });

  test("are each other's no more once the question is put: who comes then gets the next one", async () => {
    const { reloads, clock, token, answer, close } = await standing();
    const first = reloads.reload();
    await until(() => clock.pending.includes(20_000), { what: "the first wait" });
    const [requested, later] = [token(), [reloads.reload(), reloads.reload()]];
    await answer();
    expect(await first).toMatchObject({ loaded: 1, errors: [] });
    await until(() => token() !== requested && clock.pending.includes(20_000), { what: "the second question" });
    const requestedAgain = token();
    await answer();
    expect(await Promise.all(later)).toMatchObject([{ loaded: 1 }, { loaded: 1 }]);
    expect(token()).toBe(requestedAgain);
    await close();
  });

  test("keep what they remember while the list is not complete", async () => {
    await scene.reloads.reload();
    const client = createKubeClient({ kubeConfig: world.identity.kubeConfig });
    const context = { client, cache: createObjectCache<Repository>(), namespace, clock: new TestClock() };
    await expect(kubernetesRepositoryReloads(context).reload()).rejects.toBeInstanceOf(ClusterUnavailable);
    await client.close();
    expect(await scene.reloads.reload()).toMatchObject({ loaded: 1, added: [] });
  });

  test("fail as such while the API server is away", async () => {
    const client = createKubeClient({
      kubeConfig: world.identity.kubeConfig,
      onRequest: async () => ({ status: 503, headers: {}, body: { kind: "Status", code: 503 } }),
    });
    const cache = await listing(aRepository("test-backend"));
    const reloads = kubernetesRepositoryReloads({ client, cache, namespace, clock: new TestClock() });
    await expect(reloads.reload()).rejects.toBeInstanceOf(ClusterUnavailable);
    await client.close();
  });

  /** The port on a frozen list: only `answer` sends answers. */
  async function standing() {
    const client = createKubeClient({ kubeConfig: world.identity.kubeConfig });
    const cache = await listing(...(await client.list(repositoryType, { namespace })).items);
    const clock = new TestClock();
    const requested = () => cache.get(`${namespace}/test-backend`) as Repository;
    const token = () => reconcileToken(requested()) ?? "";
    // A separate write, so that its version lies between those of the requests.
    const answer = async () => {
      const status = { lastHandledReconcileAt: token() };
      const ref = { name: "test-backend", namespace };
      cache.upsert(await client.patch(repositoryType, ref, { status }, { as: "merge", subresource: "status" }));
    };
    const reloads = kubernetesRepositoryReloads({ client, cache, namespace, clock });
    return { reloads, cache, clock, token, answer, close: () => client.close() };
  }
});

async function listing(...repositories: readonly Repository[]) {
  const cache = createObjectCache<Repository>();
  const byKey = repositories.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one] as const);
  await cache.replace({ items: new Map(byKey), resourceVersion: "1" }, cache.beginList());
  return cache;
}

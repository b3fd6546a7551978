import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository.ts";
import { kubernetesRepositoryReloads } from "../../operator/adapters/kubernetes-repository-reloads.ts";
import { repositoryType } from "../../operator/kinds.ts";
import { createKubeClient } from "../../operator/kit/kube-client.ts";
import { createObjectCache } from "../../operator/kit/object-cache.ts";
import { type RepositoryHost, RepositoryHostUnavailable } from "../../operator/ports/repository-host.ts";
import { COMMIT, createWorld, type World } from "../support/environment-world.ts";
import { aRepository, memoryRepositories } from "../support/memory-repositories.ts";
import { memoryRepositoryReloads } from "../support/memory-repository-reloads.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { repositoryReloadsSuite } from "./repository-reloads.suite.ts";

const namespace = "ephemeral-system";
const AWAY = "can't be asked: no answer within 10 s";

/** The operator under the platform's own identity; a host that is away says so at once. */
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
    reloads: { reload: () => running.operator.repositoryReloads.reload() },
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
    await until(() => isSo(running.operator.repositories.find(name)), { what: `'${name}' to be known as it is` });
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

  test("say of what nobody checked that it was not, after twenty seconds", async () => {
    const client = createKubeClient({ kubeConfig: world.identity.kubeConfig });
    const cache = createObjectCache<Repository>();
    const clock = new TestClock();
    // A list that stands still: no answer ever arrives.
    const listed = await client.list(repositoryType, { namespace });
    for (const repository of listed.items) cache.upsert(repository);
    const reloading = kubernetesRepositoryReloads({ client, cache, namespace, clock }).reload();
    await until(() => clock.pending.includes(20_000), { what: "the wait for the checks" });
    clock.advance(20_000);
    expect(await reloading).toMatchObject({
      loaded: 0,
      removed: [],
      errors: [{ name: "test-backend", message: expect.stringContaining("not checked") }],
    });
    await client.close();
    expect(await scene.reloads.reload()).toMatchObject({ loaded: 1, added: [], errors: [] });
  });

  test("fail as such while the API server is away", async () => {
    const client = createKubeClient({
      kubeConfig: world.identity.kubeConfig,
      onRequest: async () => ({ status: 503, headers: {}, body: { kind: "Status", code: 503 } }),
    });
    const cache = createObjectCache<Repository>();
    cache.upsert(aRepository("test-backend"));
    const reloads = kubernetesRepositoryReloads({ client, cache, namespace, clock: new TestClock() });
    await expect(reloads.reload()).rejects.toBeInstanceOf(ClusterUnavailable);
    await client.close();
  });
});

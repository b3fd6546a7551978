import { expect, test } from "@jest/globals";
import type { ConfigSet } from "../../crds/config-set.ts";
import { ClusterUnavailable, ConfigInvalid } from "../../crds/errors.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { kubernetesConfigSets } from "../../operator/adapters/kubernetes/config-sets.ts";
import { configSetType } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRepositories } from "../../operator/adapters/kubernetes/repositories.ts";
import { createObjectCache } from "../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { ownDeletions } from "../../operator/kit/client/own-deletions.ts";
import type { RequestInterceptor } from "../../operator/kit/client/request.ts";
import { memoryConfigSets } from "../support/doubles/memory/config-sets.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { unique } from "../support/plane/people.ts";
import { configSetsSuite } from "./suites/config-sets.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";

async function real(onRequest?: RequestInterceptor) {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  const client = createKubeClient({ kubeConfig, ...(onRequest ? { onRequest } : {}) });
  const adminConfig = kubeConfigOf(plane, plane.adminToken);
  const admin = createKubeClient({ kubeConfig: adminConfig });
  const cache = createObjectCache<ConfigSet>();
  const reflector = createReflector({ client, type: configSetType, cache, log: silentLog, namespace });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return {
    configSets: kubernetesConfigSets({ deletions: ownDeletions(), client, cache, namespace }),
    async changeElsewhere({ metadata: { name } }: ConfigSet, spec: object) {
      await admin.patch(configSetType, { name, namespace }, [{ op: "replace", path: "/spec", value: spec }], {
        as: "json",
      });
    },
    async removeElsewhere({ metadata: { name } }: ConfigSet) {
      await admin.delete(configSetType, { name, namespace });
    },
    async stop() {
      const { items } = await admin.list(configSetType, { namespace });
      const ours = items.filter(({ metadata }) => metadata.name.startsWith("suite-"));
      for (const { metadata } of ours) await admin.delete(configSetType, { name: metadata.name, namespace });
      await reflector.stop();
      await Promise.all([client.close(), admin.close()]);
    },
  };
}

configSetsSuite("on the Kubernetes API, as the platform", real);
configSetsSuite("in memory", async () => {
  const configSets = memoryConfigSets();
  return {
    configSets,
    changeElsewhere: async (configSet, spec) => {
      const { metadata } = configSet;
      configSets.put({ ...configSet, spec, metadata: { ...metadata, generation: metadata.generation + 1 } });
    },
    removeElsewhere: async ({ metadata }) => configSets.drop(metadata.name),
    stop: async () => undefined,
  };
});

test("what the API server refuses is named by its field", async () => {
  const world = await real();
  const env = [
    { name: "A", value: "1" },
    { name: "A", value: "2" },
  ];
  const made = world.configSets.create(unique("suite-"), { env }, "dev").catch((error: unknown) => error);
  const refusal = await made;
  expect(refusal).toBeInstanceOf(ConfigInvalid);
  expect((refusal as ConfigInvalid).violations).toMatchObject([{ field: "spec.env[1]" }]);
  await world.stop();
});

test("before the first complete list nothing is taken for absent", () => {
  const cache = createObjectCache<ConfigSet>();
  const client = undefined as never;
  const configSets = kubernetesConfigSets({ deletions: ownDeletions(), client, cache, namespace });
  const repositories = kubernetesRepositories(createObjectCache<Repository>(), namespace);
  for (const port of [configSets, repositories]) {
    expect(() => port.find("web")).toThrow(ClusterUnavailable);
    expect(() => port.list()).toThrow(ClusterUnavailable);
  }
});

test("an API server that is away is reported as such, and nothing is there then", async () => {
  let isAway = false;
  const world = await real(async (_request, next) =>
    isAway ? { status: 503, headers: {}, body: { kind: "Status", code: 503 } } : next(),
  );
  const name = unique("suite-");
  isAway = true;
  await expect(world.configSets.create(name, {}, "dev")).rejects.toBeInstanceOf(ClusterUnavailable);
  isAway = false;
  expect(world.configSets.find(name)).toBeUndefined();
  await world.stop();
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CONFIG_SET_UID_LABEL, revisionName } from "../../crds/config-set.ts";
import { kubernetesConfigSetVersions } from "../../operator/adapters/kubernetes/config-sets.ts";
import { createObjectCache } from "../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { revisionKind, type WireObject } from "../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../operator/kit/client/kube-client.ts";
import { NameTaken } from "../../operator/ports/cluster.ts";
import { memoryConfigSetVersions } from "../support/doubles/memory/config-sets.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { configSetVersionsSuite, newVersion } from "./suites/config-set-versions.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";
const LONG_MS = 11 * 60_000;

/** The adapter under the platform's own identity, with a controllable clock of the API server. */
async function real() {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  const client = createKubeClient({ kubeConfig });
  const cache = createObjectCache<WireObject>();
  const where = { namespace, labelSelector: CONFIG_SET_UID_LABEL };
  const reflector = createReflector({ client, type: revisionKind, cache, log: silentLog, ...where });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  let aheadMs = 0;
  const serverClock = { now: async () => new Date(Date.now() + aheadMs) };
  return {
    client,
    versions: kubernetesConfigSetVersions({ client, cache, namespace, serverClock }),
    passTime() {
      aheadMs += LONG_MS;
    },
    async stop() {
      const { items } = await client.list(revisionKind, where);
      for (const { metadata } of items) await client.delete(revisionKind, { name: metadata.name, namespace });
      await reflector.stop();
      await client.close();
    },
  };
}

configSetVersionsSuite("as ControllerRevisions", real);
configSetVersionsSuite("in memory", async () => {
  let now = 0;
  return {
    versions: memoryConfigSetVersions([], () => now),
    passTime() {
      now += LONG_MS;
    },
    stop: async () => {},
  };
});

describe("versions as ControllerRevisions", () => {
  let admin: KubeClient;
  let scene: Awaited<ReturnType<typeof real>>;
  beforeAll(async () => {
    scene = await real();
    const config = kubeConfigOf(plane, plane.adminToken);
    admin = createKubeClient({ kubeConfig: config });
  }, 60_000);
  afterAll(async () => {
    await scene.stop();
    await admin.close();
  });

  test("can't be changed by any account", async () => {
    const version = newVersion();
    await scene.versions.keep(version);
    const ref = { name: revisionName(version), namespace };
    const changed = admin.patch(revisionKind, ref, [{ op: "replace", path: "/data", value: {} }], { as: "json" });
    await expect(changed).rejects.toMatchObject({ status: 422 });
  });

  test("adopt no foreign object of the name", async () => {
    const version = newVersion();
    const metadata = { name: revisionName(version), namespace };
    const made = await admin.create(revisionKind, { metadata, revision: 1, data: {} });
    await expect(scene.versions.keep(version)).rejects.toThrow(NameTaken);
    expect(await admin.find(revisionKind, metadata)).toEqual(made);
    await admin.delete(revisionKind, metadata);
  });
});

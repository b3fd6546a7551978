import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { REQUESTED_ANNOTATION } from "../../../crds/group.ts";
import { requestPlatformToken } from "../../../deploy/local/platform/token.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesSleepingEnvironments } from "../../../operator/adapters/kubernetes/sleeping-environments.ts";
import { type CacheSet, createCacheSet } from "../../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import type { SleepingEnvironments } from "../../../operator/ports/sleeping-environments.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const admin = administrator(plane);
const clock = systemClock;
let client: KubeClient;
let watches: CacheSet;
let environments: SleepingEnvironments;

beforeAll(async () => {
  const user = { kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath };
  const account = { namespace: "ephemeral-system", serviceAccount: "gate" };
  const { token } = await requestPlatformToken(user, account, 3600);
  client = createKubeClient({ kubeConfig: kubeConfigOf(plane, token), clock });
  watches = createCacheSet({ client, clock, log: silentLog });
  const cache = watches.watch({ type: environmentType, withoutManagedFields: true, isInterned: true });
  environments = kubernetesSleepingEnvironments({ client, cache, clock });
  watches.start();
  await watches.whenSynced(AbortSignal.timeout(30_000));
}, 60_000);

afterAll(async () => {
  await watches.stop();
  await client.close();
});

test("the gate's program sees environments, and records requests to them, with a token of its account and no other right", async () => {
  const name = unique("gated-");
  await given(admin, paths.environments, environmentObject(name, {}, { labels: { team: "shop" } }));
  const found = await until(() => environments.find(name), { what: "the environment in the gate's list" });
  await environments.recordRequest(found, new Date("2026-11-27T06:30:00.123Z"));
  await environments.recordRequest(found, new Date("2026-11-27T06:31:00.123Z"));
  const recorded = { annotations: { [REQUESTED_ANNOTATION]: "2026-11-27T06:31:00.123Z" }, labels: { team: "shop" } };
  expect(environments.find(name)).toMatchObject({ metadata: recorded });
  expect(await admin.get(`${paths.environments}/${name}`)).toMatchObject({ object: { metadata: recorded } });

  const other = { ...found, metadata: { ...found.metadata, uid: crypto.randomUUID() } };
  await expect(environments.recordRequest(other, new Date())).rejects.toThrow();
});

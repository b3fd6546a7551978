import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { namespaceName } from "../../../crds/names.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  secretKind,
} from "../../../operator/kit/client/kinds.ts";
import type { KubeRequest, RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { troubledWatches } from "../../support/faults/watch-interceptors.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { createWorld, podSecretRef, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let name: string;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);
beforeEach(() => {
  name = unique("anew-");
});
afterEach(() => world.abandonOperators());

/** A ready environment of an operator with this interceptor; its namespace is deleted, its application stays. */
async function bereaved(onRequest: RequestInterceptor, before: () => void) {
  await world.startOperator({ onRequest });
  await world.create(name);
  await world.expectPhase(name, "ready");
  const [found, secret] = await Promise.all([
    world.admin.find(namespaceKind, { name: namespaceName(name) }),
    world.admin.find(secretKind, podSecretRef(name)),
  ]);
  before();
  await world.admin.delete(namespaceKind, { name: namespaceName(name) });
  const isAnew = async () => {
    const anew = await world.admin.find(namespaceKind, { name: namespaceName(name) });
    return anew !== undefined && anew.metadata.uid !== found?.metadata.uid;
  };
  await until(isAnew, { what: "the namespace being made anew", deadlineMs: 60_000 });
  return { data: secret?.data };
}

const secretNow = () => world.admin.find(secretKind, podSecretRef(name));
const isOf = ({ type, namespace }: KubeRequest, kinds: readonly { readonly kind: string }[]) =>
  (namespace === undefined || namespace === namespaceName(name)) && kinds.some(({ kind }) => kind === type?.kind);

test("abuse case 114: a namespace that is made anew gets no Secret while its quota is refused", async () => {
  let refuses = false;
  const interceptor: RequestInterceptor = async (request, next) => {
    const isRefused = refuses && request.verb === "create" && isOf(request, [resourceQuotaKind]);
    if (isRefused) throw new KubeError({ status: 403, reason: "Forbidden" });
    return next();
  };
  const { data } = await bereaved(interceptor, () => {
    refuses = true;
  });
  const reported = await world.expectState(name, "saying what it waits for", ({ status }) =>
    ["IsolationReady", "SecretsReady"].every(
      (type) => findCondition(status?.conditions, type as "SecretsReady")?.status === "Unknown",
    ),
  );
  expect(findCondition(reported.status?.conditions, "SecretsReady")?.reason).toBe("NotIsolated");
  await world.reconcile(name);
  expect(await secretNow()).toBeUndefined();

  refuses = false;
  const back = await until(secretNow, { what: "the Secret being there again", deadlineMs: 30_000 });
  expect(back?.data).toEqual(data);
  await world.expectPhase(name, "ready");
}, 120_000);

test("what the watch still shows of the namespace of before is no isolation of the new one", async () => {
  const kinds = [resourceQuotaKind, limitRangeKind, networkPolicyKind];
  const lagging = troubledWatches();
  const made: string[] = [];
  const interceptor: RequestInterceptor = async (request, next) => {
    const answer = await (isOf(request, kinds) ? lagging.interceptor(request, next) : next());
    if (request.verb === "create" && request.namespace === namespaceName(name)) made.push(request.type?.kind ?? "");
    return answer;
  };
  await bereaved(interceptor, () => {
    made.length = 0;
    lagging.set("hold");
  });
  await until(secretNow, { what: "the Secret being there again", deadlineMs: 30_000 });
  expect(made.slice(0, made.indexOf("Secret"))).toEqual(
    expect.arrayContaining(["ResourceQuota", "LimitRange", "NetworkPolicy", "NetworkPolicy"]),
  );
  lagging.set("none");
  await world.expectPhase(name, "ready");
}, 120_000);

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../crds/group.ts";
import { configSetType, environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { Draft, KubeObject, ResourceType } from "../../../operator/kit/client/objects.ts";
import { type MemoryAuditTrail, memoryAuditTrail } from "../../support/doubles/memory/audit-trail.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const namespace = "ephemeral-system";

let world: World;
let operator: RunningOperator;
let audit: MemoryAuditTrail;
let request: string | undefined;
const start = async () => {
  audit = memoryAuditTrail();
  operator = await world.startOperator({ audit, auditId: () => request });
};
beforeAll(async () => {
  world = await createWorld();
  await start();
}, 120_000);
afterAll(async () => {
  await operator.stop();
  await world.stop();
}, 60_000);
beforeEach(() => {
  request = undefined;
});

const seen = (name: string) =>
  audit.records
    .filter(({ objects }) => objects.some((object) => object.name === name))
    .map(({ event, action, outcome, actor, objects }) => ({ event, action, outcome, actor, kind: objects[0]?.kind }));
const byKubernetes = (action: string, kind: string, ...fieldManagers: string[]) => ({
  event: "change",
  action,
  outcome: "seen",
  kind,
  actor: { method: "kubernetes", fieldManagers },
});
const recorded = (name: string, count: number) =>
  until(() => seen(name).length === count, { what: `${count} records of ${name}`, deadlineMs: 20_000 });
const stampOf = (environment: EphemeralEnvironment) => environment.metadata.annotations?.[AUDIT_ID_ANNOTATION];

/** Creates, changes and deletes an object in the platform's namespace. */
async function comeAndGo<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>) {
  const ref = { name: draft.metadata.name, namespace };
  await world.admin.create(type, draft);
  await world.admin.patch(type, ref, { spec: { access: { groups: ["shop"] } } }, { as: "merge" });
  await world.admin.delete(type, ref);
}

describe("what is changed through the REST interface", () => {
  test("names the record of the request that changed it last, and is recorded there alone", async () => {
    const name = unique("stamped-");
    const { environments } = operator.operator.ports;
    request = "audit-1";
    const made = await environments.create(name, backendOnly);
    request = "audit-2";
    const extended = await environments.extend(made, { ttlHours: 30 });
    request = "audit-3";
    const switched = await environments.update(extended, { suspended: true });
    expect([made, extended, switched].map(stampOf)).toEqual(["audit-1", "audit-2", "audit-3"]);
    request = "audit-4";
    await environments.remove(switched);
    await world.expectGone(made);
    expect(seen(name)).toEqual([]);
  }, 60_000);
});

describe("what is changed past it", () => {
  test("is recorded with who wrote it, once for each change of the spec", async () => {
    const name = unique("applied-");
    const made = await world.create(name);
    await recorded(name, 1);
    await world.expectState(name, "having been seen", ({ status }) => status?.observedGeneration === 1);
    request = "audit-5";
    const known = await until(() => operator.operator.ports.environments.find(name));
    await operator.operator.ports.environments.extend(known, { ttlHours: 30 });
    await world.admin.patch(environmentType, { name }, { metadata: { labels: { team: "shop" } } }, { as: "merge" });
    await world.admin.patch(environmentType, { name }, { spec: { ttlHours: 40 } }, { as: "merge" });
    await recorded(name, 2);
    await world.delete(made);
    await world.expectGone(made);
    expect(seen(name)).toEqual([
      byKubernetes("created", "EphemeralEnvironment", "controller-kit"),
      byKubernetes("changed", "EphemeralEnvironment", "controller-kit"),
      byKubernetes("deleted", "EphemeralEnvironment"),
    ]);
  }, 60_000);

  test("is recorded for config sets and Repositories, deletions with them", async () => {
    const name = unique("set-");
    const metadata = { name, namespace };
    const image = { repository: "docker.io/local/x" };
    await comeAndGo(configSetType, { metadata, spec: {} });
    await comeAndGo(repositoryType, {
      metadata,
      spec: { type: "backend", cloneUrl: "http://127.0.0.1:9/x.git", image },
    });
    await recorded(name, 6);
    expect(seen(name)).toEqual(
      ["ConfigSet", "Repository"].flatMap((kind) => [
        byKubernetes("created", kind, "controller-kit"),
        byKubernetes("changed", kind, "controller-kit"),
        byKubernetes("deleted", kind),
      ]),
    );
  }, 60_000);

  test("without a leader is recorded by the next one", async () => {
    const name = unique("unseen-");
    const made = await world.create(name);
    await world.expectState(name, "having been seen", ({ status }) => status?.observedGeneration === 1);
    await operator.stop();
    await world.admin.patch(environmentType, { name }, { spec: { ttlHours: 40 } }, { as: "merge" });
    await start();
    await recorded(name, 1);
    expect(seen(name)).toEqual([byKubernetes("changed", "EphemeralEnvironment", "controller-kit")]);
    await world.delete(made);
    await world.expectGone(made);
  }, 60_000);

  test("without a leader is recorded once when it is a deletion, however many lead before it is over", async () => {
    const name = unique("leaving-");
    const made = await world.create(name);
    await world.expectPhase(name, "ready");
    const held = { name: "held", namespace: `env-${name}`, finalizers: ["example.test/hold"] };
    await world.admin.create(configMaps, { metadata: held });
    await operator.stop();
    await world.delete(made);
    await start();
    // A term begins with earlier changes, and continues once they are recorded.
    expect(seen(name)).toEqual([byKubernetes("deleted", "EphemeralEnvironment")]);
    await world.expectState(name, "on its way out", ({ status }) => status?.teardown !== undefined);
    await operator.stop();
    await start();
    expect(seen(name)).toEqual([]);
    await world.admin.patch(configMaps, held, { metadata: { finalizers: [] } }, { as: "merge" });
    await world.expectGone(made);
    expect(seen(name)).toEqual([]);
  }, 120_000);
});

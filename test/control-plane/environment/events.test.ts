import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { UrlProber } from "../../../operator/ports/url-prober.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const AUDIT_ID = "0198c7a1-extended";

/** The URLs of an environment scaled to zero do not answer. */
let areSilent = false;
const prober: UrlProber = {
  probe: async () => ({ status: areSilent ? "unreachable" : "healthy", responseTimeMs: 1, message: "as it is" }),
};

let world: World;
let running: RunningOperator;
let admin: ApiCalls;
beforeAll(async () => {
  world = await createWorld();
  admin = callsAs(world.plane, { token: world.plane.adminToken });
  running = await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

/** An Event for kubectl describe: of the core group, whatever group it was written with. */
interface DescribedEvent {
  readonly metadata: { readonly namespace: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly reportingComponent: string;
  readonly series?: { readonly count: number };
}

/** The request of kubectl describe: events of all namespaces about this object. */
async function described({ metadata: { name, uid } }: EphemeralEnvironment): Promise<readonly DescribedEvent[]> {
  const about = { name, uid, kind: "EphemeralEnvironment", apiVersion: "ephemeral-environments.dev/v1" };
  const selector = Object.entries(about).map(([field, value]) => `involvedObject.${field}=${value}`);
  const { object } = await admin.get(`/api/v1/events?fieldSelector=${encodeURIComponent(selector.join(","))}`);
  // In the API server's order, which kubectl keeps: it sorts by a time that such Events lack.
  return (object as unknown as { items: DescribedEvent[] }).items;
}

const reasons = async (environment: EphemeralEnvironment) => (await described(environment)).map(({ reason }) => reason);

const untilReason = (environment: EphemeralEnvironment, reason: string) =>
  until(async () => (await described(environment)).find((event) => event.reason === reason), {
    what: `the event ${reason}`,
    deadlineMs: 2e4,
  });

const change = (name: string, spec: object) => world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });

describe("kubectl describe of an environment shows", () => {
  test("its life: made, ready, updated, extended, asleep, awake, gone; reconciles and restarts add nothing", async () => {
    const name = "reported";
    const made = await world.create(name);
    await world.expectPhase(name, "ready");
    const ready = await untilReason(made, "Ready");
    expect(ready).toMatchObject({
      type: "Normal",
      message: expect.stringMatching(/^ready \d+ s after its creation$/),
      reportingComponent: "ephemeral-environments",
      metadata: { namespace: "default" },
    });

    await change(name, { backend: { commit: "b".repeat(40) } });
    await untilReason(made, "Updated");

    const before = await reasons(made);
    for (let pass = 0; pass < 10; pass += 1) await world.reconcile(name);
    await running.stop();
    running = await world.startOperator({ prober, auditId: () => AUDIT_ID });
    await world.reconcile(name);

    await change(name, { ttlHours: 48 });
    expect(await untilReason(made, "Extended")).toMatchObject({
      message: expect.stringMatching(/^extended from 24 to 48 hours, until \S+Z, by /),
    });
    const { environments } = running.operator.ports;
    await environments.extend((await world.find(name)) as EphemeralEnvironment, { ttlHours: 72 });
    const byRest = async () =>
      (await described(made)).some(({ message }) =>
        message.endsWith(`through the REST interface (audit record ${AUDIT_ID})`),
      );
    await until(byRest, { what: "the extension through the REST interface", deadlineMs: 20_000 });
    // Earlier Events come first: the reconciles between have published nothing.
    expect((await reasons(made)).slice(0, -2)).toEqual(before);

    await change(name, { suspended: true });
    await untilReason(made, "Asleep");
    areSilent = true;
    await change(name, { suspended: false });
    await world.expectState(
      name,
      "waiting for its URLs",
      ({ status }) => findCondition(status?.conditions, "UrlsReady")?.reason === "NotAnswering",
    );
    areSilent = false;
    await untilReason(made, "Awake");

    await world.delete(made);
    await world.expectGone(made);
    expect(await untilReason(made, "Deleted")).toMatchObject({
      message: expect.stringMatching(/^gone \d+ s after its deletion began$/),
    });
    const all = (await reasons(made)).filter((reason) => reason !== "UpdateStarted");
    expect(all).toEqual(["Created", "Ready", "Updated", "Extended", "Extended", "Asleep", "Awake", "Deleted"]);
  }, 120_000);

  test("a failure with its reason, and what blocks the deletion", async () => {
    const name = "reported-bad";
    world.argocd.decide(name, () => "unsyncable");
    const made = await world.create(name, { ...backendOnly, ttlHours: 24 });
    await world.expectPhase(name, "failed");
    const failed = await untilReason(made, "Failed");
    expect(failed.type).toBe("Warning");
    expect(failed.message).toMatch(/^[A-Za-z]+: /);

    await world.admin.patch(
      namespaceKind,
      { name: `env-${name}` },
      { metadata: { finalizers: ["example.test/hold"] } },
      { as: "merge" },
    );
    await world.delete(made);
    const isWaiting = ({ status }: EphemeralEnvironment) =>
      status?.teardown?.steps.some(({ name: step, state }) => step === "namespace" && state === "waiting") === true;
    await world.expectState(name, "waiting for its namespace", isWaiting);
    await running.stop();
    // Six minutes later: more than a step of a deletion may take.
    running = await world.startOperator({ clock: clockAhead(0.1) });
    const blocked = await untilReason(made, "DeletionBlocked");
    expect(blocked).toMatchObject({ type: "Warning", message: expect.stringContaining("example.test/hold") });
    await world.admin.patch(
      namespaceKind,
      { name: `env-${name}` },
      { metadata: { finalizers: null } },
      { as: "merge" },
    );
    await world.expectGone(made);
  }, 120_000);
});

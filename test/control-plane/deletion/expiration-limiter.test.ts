import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let running: RunningOperator | undefined;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => running?.stop());
afterAll(() => world.stop(), 60_000);

/** Created at once, due one hour after the other, in the reverse order of their names. */
async function given(prefix: string, count: number): Promise<EphemeralEnvironment[]> {
  const { stop } = await world.startOperator();
  const names = Array.from({ length: count }, (_, at) => `${prefix}-${count - at}`);
  for (const [at, name] of names.entries()) await world.create(name, { ...backendOnly, ttlHours: at + 1 });
  const made = await Promise.all(names.map((name) => world.expectPhase(name, "ready")));
  await stop();
  return made;
}

async function operatorAhead(
  expiry: object,
  onRequest: RequestInterceptor = (_request, next) => next(),
): Promise<void> {
  running = await world.startOperator({
    clock: clockAhead(10, world.clock),
    serverClock: serverClockAhead(10),
    onRequest,
    settings: settingsFrom({ ...testSettings, expiry }),
  });
}

const isBlocked = async () => (await running?.operator.ports.health.check())?.expirationsBlocked;
const isLeaving = (found: EphemeralEnvironment | undefined) => found?.metadata.deletionTimestamp !== undefined;

describe("many environments that are due at once", () => {
  test("go the oldest first", async () => {
    const made = await given("wave", 4);
    const gone: (string | undefined)[] = [];
    await operatorAhead({ perSecond: 1 }, (request, next) => {
      if (request.verb === "delete" && request.type === environmentType) gone.push(request.name);
      return next();
    });
    await Promise.all(made.map(world.expectGone));
    expect(gone).toEqual(made.map(({ metadata }) => metadata.name));
  }, 120_000);

  test("all stay when they are too many, until an admin confirms or fewer are due", async () => {
    const made = await given("many", 4);
    const [first, second, third, fourth] = made as [EphemeralEnvironment, ...EphemeralEnvironment[]];
    await operatorAhead({ deletionBudget: { share: 0, atLeast: 2 } });
    for (const { metadata } of made) expect(isLeaving(await world.reconcile(metadata.name))).toBe(false);
    const said = async () => {
      const { items } = await world.admin.list(eventKind, { namespace: "ephemeral-system" });
      return items.filter(({ reason }) => reason === "ExpirationsBlocked").map(({ note }) => String(note));
    };
    const [message] = await until(async () => ((await said()).length > 0 ? said() : undefined), { what: "the event" });
    expect(message).toContain("4 of 4 environments are due at once, more than 2");
    expect(await isBlocked()).toBe(true);

    const confirmed = { metadata: { annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } };
    await world.admin.patch(environmentType, { name: first.metadata.name }, confirmed, { as: "merge" });
    await world.expectGone(first);
    for (const one of [second, third, fourth])
      expect(isLeaving(await world.reconcile(one?.metadata.name ?? ""))).toBe(false);

    await world.admin.patch(environmentType, { name: "many-3" }, { spec: { ttlHours: 100 } }, { as: "merge" });
    // A blocked expiration is checked again after half a minute.
    await world.hurried(() => Promise.all([third, fourth].map((one) => world.expectGone(one as EphemeralEnvironment))));
    expect(isLeaving(await world.find("many-3"))).toBe(false);
    await until(async () => !(await isBlocked()), { what: "the status without a block" });
  }, 180_000);
});

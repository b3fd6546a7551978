import { describe, expect, test } from "@jest/globals";
import type { Announced } from "../../../../crds/notifications/announced.schema.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
  pipelineFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";
import { HOUR, owner, readiness, scene } from "./announced-scene.ts";

describe("an ended pipeline", () => {
  const ran = (
    status: "running" | "success" | "failed" | "canceled",
    more: Parameters<typeof pipelineFixture>[0] = {},
  ) => ({
    spec: {
      backend: {
        repository: "shop-api",
        branch: "main",
        pipelines: [pipelineFixture({ status, url: "https://ci.test/p/7", ...more })],
      },
    },
  });

  test("is reported once, with project, commit, image and status", async () => {
    const { reconcile, notifications } = scene();
    await reconcile(ran("running"));
    expect(await reconcile({ ...ran("success"), status: readiness("Unknown", 0) })).toEqual(["pipeline to chat shop"]);
    expect(await reconcile({ ...ran("success"), status: readiness("Unknown", 0) })).toEqual([]);
    expect(notifications.specs().at(-1)?.facts).toMatchObject({
      project: "g/shop",
      commit: "aaaaaaaa",
      status: "success",
      image: `registry.test/shop-api:${"a".repeat(40)}`,
    });
    expect(notifications.specs().at(-1)?.facts).not.toHaveProperty("pipelineUrl");
  });

  test("that failed has its address", async () => {
    const { reconcile, notifications } = scene();
    await reconcile();
    expect(await reconcile({ ...ran("failed"), status: readiness("Unknown", 0) })).toEqual(["pipeline to chat shop"]);
    expect(notifications.specs().at(-1)?.facts).toMatchObject({ status: "failed", pipelineUrl: "https://ci.test/p/7" });
  });

  test.each([
    ["attempt", [{ attempt: 1 }, { attempt: 2 }]],
    ["time", [{}, { at: minutesLater(5).toISOString() }]],
  ])("is reported again when it is run again and ends again, by its %s", async (_, [first, second]) => {
    const { reconcile } = scene();
    await reconcile();
    const failed = (more = {}) => reconcile({ ...ran("failed", more), status: readiness("Unknown", 0) });
    expect(await failed(first)).toEqual(["pipeline to chat shop"]);
    expect(await reconcile({ ...ran("running", second), status: readiness("Unknown", 0) })).toEqual([]);
    expect(await failed(second)).toEqual(["pipeline to chat shop"]);
    expect(await failed(second)).toEqual([]);
  });

  test("that ended long before the environment was made is no news", async () => {
    const { reconcile } = scene();
    const old = ran("failed", { at: minutesLater(-2 * HOUR).toISOString() });
    await reconcile(old);
    expect(await reconcile({ ...old, status: readiness("Unknown", 0) })).toEqual([]);
  });

  test("that a former release has reported is not reported again", async () => {
    const { announcer, made } = scene();
    const announced: Announced = { event: "created", at: CREATED, pipelines: { backend: "g/shop#7/success" } };
    const status = { ...readiness("Unknown", 0), announced };
    await announcer.announce(environmentFixture({ ...ran("success"), status }));
    expect(made()).toEqual([]);
  });

  test("that is running or canceled is not reported", async () => {
    const { reconcile } = scene();
    await reconcile();
    expect(await reconcile({ ...ran("running"), status: readiness("Unknown", 0) })).toEqual([]);
    expect(await reconcile({ ...ran("canceled"), status: readiness("Unknown", 0) })).toEqual([]);
  });

  test("is reported once for all environments that have its commit", async () => {
    const { announcer, made } = scene();
    for (const uid of ["0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002"]) {
      const announced: Announced = { event: "created", at: CREATED };
      await announcer.announce(
        environmentFixture({ ...ran("success"), metadata: { uid }, status: { ...readiness("Unknown", 0), announced } }),
      );
    }
    expect(made()).toEqual(["pipeline to chat shop"]);
  });
});

describe("a warning before an expiry", () => {
  const warned = (ttlHours: number, notBefore = 0) => ({
    spec: { ttlHours, owner },
    status: { ...readiness("True", notBefore), expiresAt: minutesLater(ttlHours * HOUR).toISOString() },
  });
  const silent = { notify: {} };

  test("comes a day and an hour before, once each, to the owner alone", async () => {
    const { reconcile, clock, notifications } = scene(silent);
    expect(await reconcile({ spec: { ttlHours: 48, owner } })).toEqual([]);
    expect(await reconcile(warned(48))).toEqual([]);
    clock.advance(24 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
    clock.advance(23 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
    expect(notifications.specs().map(({ facts }) => facts.hours)).toEqual(["24", "1"]);
  });

  test("comes before the end of a protection instead, where that has one", async () => {
    const { reconcile, clock, notifications } = scene(silent);
    const protectedUntil = minutesLater(96 * HOUR).toISOString();
    const given = { ...warned(48), spec: { ttlHours: 48, owner, protectedUntil } };
    await reconcile(given);
    clock.advance(47.5 * HOUR * 60_000);
    expect(await reconcile(given)).toEqual([]);
    clock.advance(24.5 * HOUR * 60_000);
    expect(await reconcile(given)).toEqual(["expiry to email dev@example.test"]);
    expect(notifications.specs().map(({ facts }) => facts.expiresAt)).toEqual([protectedUntil]);
  });

  test("that would come with the creation is left out", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile({ spec: { ttlHours: 24, owner } });
    expect(await reconcile(warned(24))).toEqual([]);
    clock.advance(23 * HOUR * 60_000);
    expect(await reconcile(warned(24))).toEqual(["expiry to email dev@example.test"]);
  });

  test("that would come with an extension is left out, and the next one is not", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile(warned(4));
    clock.advance(3.5 * HOUR * 60_000);
    expect(await reconcile(warned(4))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(10))).toEqual([]);
    clock.advance(5.6 * HOUR * 60_000);
    expect(await reconcile(warned(10))).toEqual(["expiry to email dev@example.test"]);
  });

  test("is only the last one that is due", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile(warned(48));
    clock.advance(47.5 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
  });

  test.each<[string, object, object]>([
    ["for a protected environment", { protected: true }, {}],
    ["without an owner", { owner: undefined }, {}],
    ["to a list of addresses", { owner: { ...owner, email: "a@example.test, b@example.test" } }, {}],
    ["to an address with a line break", { owner: { ...owner, email: "a@example.test\r\nBcc: b@example.test" } }, {}],
    ["to an address with a name", { owner: { ...owner, email: "Dev <dev@example.test>" } }, {}],
    ["to the login of a host", { owner: { ...owner, email: "" } }, {}],
    ["without a mail server", {}, { email: undefined }],
    ["where the settings want none", {}, { expiryWarnings: { hours: [] } }],
  ])("does not come %s", async (_rule, spec, settings) => {
    const { reconcile, clock } = scene({ notify: {}, settings });
    const given = () => ({ ...warned(48), spec: { ttlHours: 48, owner, ...spec } });
    await reconcile(given() as never);
    clock.advance(47.5 * HOUR * 60_000);
    expect(await reconcile(given() as never)).toEqual([]);
  });

  test("wakes the reconcile when it is due", async () => {
    const { announcer, clock } = scene(silent);
    const announced: Announced = {
      event: "ready",
      at: minutesLater(0).toISOString(),
      serving: "hash-1",
      expiry: { at: minutesLater(48 * HOUR).toISOString() },
    };
    const given = warned(48);
    const settled = () =>
      announcer.nextAnnouncement(environmentFixture({ ...given, status: { ...given.status, announced } })).dueInMs;
    expect(settled()).toBe(24 * HOUR * 60_000);
    clock.advance(24 * HOUR * 60_000 - 5);
    expect(settled()).toBe(5);
    clock.advance(5);
    expect(settled()).toBe(0);
  });
});

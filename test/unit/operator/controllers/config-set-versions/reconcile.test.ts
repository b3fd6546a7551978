import { describe, expect, test } from "@jest/globals";
import { CONFIG_SET_LABEL, type ConfigSetVersion, revisionName } from "../../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { discardWhenUnused } from "../../../../../operator/controllers/config-set-versions/reconcile.ts";
import { enqueueOnDisuse } from "../../../../../operator/controllers/config-set-versions/watches.ts";
import type { WireObject } from "../../../../../operator/kit/client/kinds.ts";
import type { Caches } from "../../../../../operator/ports/caches.ts";
import { memoryConfigSetVersions } from "../../../../support/doubles/memory/config-sets.ts";
import { partialDouble } from "../../../../support/doubles/partial-double.ts";
import { environmentFixture, UID } from "../../../../support/fixtures/environment/environment-fixture.ts";

const version: ConfigSetVersion = { name: "web", version: 2, uid: UID, spec: {} };
const revision = revisionName(version);
const pinned = (name: string) =>
  environmentFixture({
    spec: { configSet: { name: "web" } },
    status: { configSet: { name: "web", version: 2, revision: name } },
  });
const settled = environmentFixture({
  spec: { configSet: { name: "web", version: 2 } },
  status: { configSet: { name: "web", version: 2, revision } },
});
const asking = (requested: number) => environmentFixture({ spec: { configSet: { name: "web", version: requested } } });

describe("a version", () => {
  /** The result for a version marked as unused, after its grace period. */
  async function fate(cached: readonly EphemeralEnvironment[], live: readonly EphemeralEnvironment[] = []) {
    let now = 0;
    const versions = memoryConfigSetVersions([version], () => now);
    let liveReads = 0;
    const reconcile = discardWhenUnused({
      configSetVersions: versions,
      environmentsNaming: (name) => (name === "web" ? cached : []),
      liveEnvironments: async () => {
        liveReads += 1;
        return live;
      },
    });
    const results = [];
    for (const minutes of [11, 22]) {
      now = minutes * 60_000;
      results.push(
        await reconcile(revision, { signal: new AbortController().signal, requeueUrgently: () => undefined }),
      );
    }
    return { isKept: versions.find(revision) !== undefined, liveReads, results };
  }

  test("is discarded when no environment has it or asks for it", async () => {
    expect(await fate([pinned("web-other-2"), asking(3)])).toMatchObject({ isKept: false, liveReads: 1 });
  });

  test("is looked at again when its time is up", async () => {
    const { results } = await fate([]);
    expect(results).toEqual([{ requeueAfterMs: expect.any(Number) }, undefined]);
  });

  test.each([
    ["one has it", pinned(revision)],
    ["one asks for it", asking(2)],
  ])("stays without a question while %s", async (_what, environment) => {
    expect(await fate([environment])).toEqual({ isKept: true, liveReads: 0, results: [undefined, undefined] });
  });

  test.each([
    ["has it", pinned(revision)],
    ["asks for it", asking(2)],
  ])("stays when a fresh look shows one that %s", async (_what, environment) => {
    expect(await fate([], [environment])).toMatchObject({ isKept: true, liveReads: 1 });
  });
});

describe("a version is looked at", () => {
  type Reported<T> = (key: string, current: T | undefined, previous: T | undefined) => void;

  function scene() {
    const woken: string[] = [];
    const tell: { environment?: Reported<EphemeralEnvironment>; revision?: Reported<WireObject> } = {};
    const subscribed = <K extends keyof typeof tell>(key: K) => ({
      subscribe(listener: (typeof tell)[K]) {
        tell[key] = listener;
        return () => delete tell[key];
      },
    });
    const metadata = {
      name: revision,
      labels: { [CONFIG_SET_LABEL]: "web" },
      uid: UID,
      resourceVersion: "1",
      creationTimestamp: "",
    };
    const kept = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision: 2 };
    const caches = partialDouble<Caches>({
      environments: partialDouble(subscribed("environment")),
      revisions: partialDouble({ ...subscribed("revision"), list: () => [kept] }),
    });
    const stop = enqueueOnDisuse(caches, (name) => void woken.push(name));
    return { woken, tell, stop };
  }

  test.each([
    { name: "when an environment of it goes", previous: pinned(revision), expected: [revision] },
    { name: "when one moves on", previous: pinned(revision), current: pinned("web-other-3"), expected: [revision] },
    { name: "when one that asked for it goes", previous: asking(2), expected: [revision] },
    {
      name: "when one that asked for it asks for another",
      previous: asking(2),
      current: asking(3),
      expected: [revision],
    },
    { name: "not when one still asks for it", previous: asking(2), current: asking(2), expected: [] },
    { name: "not when one asked for one that is not kept", previous: asking(7), expected: [] },
    { name: "not when one stays", previous: pinned(revision), current: pinned(revision), expected: [] },
    { name: "not when one takes it up", previous: asking(2), current: settled, expected: [] },
  ])("$name", ({ expected, ...change }) => {
    const { woken, tell } = scene();
    const { current, previous } = { current: undefined, ...change };
    tell.environment?.("shop", current, previous);
    expect(woken).toEqual(expected);
  });

  test("when it appears, and not when it changes or goes", () => {
    const { woken, tell, stop } = scene();
    const object = { metadata: { name: revision } } as WireObject;
    tell.revision?.("key", object, undefined);
    tell.revision?.("key", object, object);
    tell.revision?.("key", undefined, object);
    expect(woken).toEqual([revision]);
    stop();
    expect(tell).toEqual({});
  });
});

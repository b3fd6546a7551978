import { describe, expect, test } from "@jest/globals";
import { CONFIG_SET_LABEL, type ConfigSet } from "../../../../../crds/config-set.ts";
import { pendingCopySource } from "../../../../../crds/environment/database-copy.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL, FINALIZER } from "../../../../../crds/group.ts";
import type { Repository } from "../../../../../crds/repository/repository.ts";
import { enqueueOnChanges } from "../../../../../operator/controllers/environment/watches.ts";
import type { ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import type { WireObject } from "../../../../../operator/kit/client/kinds.ts";
import type { Priority } from "../../../../../operator/kit/controller/controller.ts";
import {
  BY_CONFIG_SET,
  BY_COPY_SOURCE,
  BY_REPOSITORY,
  BY_UID,
  type Caches,
} from "../../../../../operator/ports/caches.ts";
import { partialDouble } from "../../../../support/doubles/partial-double.ts";
import {
  configSetFixture,
  environmentFixture,
  repositoryFixture,
  UID,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

type Change<T> = (key: string, current: T | undefined, previous: T | undefined) => void;

function scene(
  known: readonly EphemeralEnvironment[] = [environmentFixture()],
  wake: (name: string, priority?: Priority) => void = () => undefined,
) {
  const woken: string[] = [];
  const tell: {
    environment?: Change<EphemeralEnvironment>;
    repository?: Change<Repository>;
    configSet?: Change<ConfigSet>;
    revision?: Change<WireObject>;
    child?: Change<WireObject>;
  } = {};
  const subscribed = <K extends keyof typeof tell>(key: K) => ({
    subscribe(listener: (typeof tell)[K]) {
      tell[key] = listener;
      return () => delete tell[key];
    },
  });
  const found: Readonly<Record<string, string>> = {
    [BY_UID]: UID,
    [BY_REPOSITORY]: "shop-api",
    [BY_CONFIG_SET]: "web",
  };
  const by = (index: string, value: string) => {
    if (index === BY_COPY_SOURCE) return known.filter((one) => pendingCopySource(one) === value);
    return found[index] === value ? known : [];
  };
  const caches = partialDouble<Caches>({
    environments: partialDouble({ ...subscribed("environment"), by }),
    repositories: partialDouble(subscribed("repository")),
    configSets: partialDouble(subscribed("configSet")),
    revisions: partialDouble(subscribed("revision")),
    children: new Map([["namespaces", partialDouble<ObjectCache<WireObject>>(subscribed("child"))]]),
  });
  const stop = enqueueOnChanges(caches, (name, priority) => {
    woken.push(name);
    wake(name, priority);
  });
  return { woken, tell, stop };
}

const environment = (metadata: object, rest: Parameters<typeof environmentFixture>[0] = {}) =>
  environmentFixture({ ...rest, metadata });
const child = (change: object = {}): WireObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: "env-shop",
    uid: "child",
    resourceVersion: "1",
    creationTimestamp: "",
    labels: { [ENVIRONMENT_UID_LABEL]: UID },
  },
  ...change,
});
const newer = (object: WireObject, metadata: object = {}) => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: "2", ...metadata },
});

describe("an environment's own changes", () => {
  test.each([
    ["a new one", environment({}), undefined, 1],
    ["a changed spec", environment({ generation: 2 }), environment({}), 1],
    ["a deletion", environment({ deletionTimestamp: "x" }), environment({}), 1],
    ["an annotation", environment({ annotations: { a: "1" } }), environment({}), 1],
    ["our finalizer, removed", environment({}), environment({ finalizers: [FINALIZER] }), 1],
    ["our finalizer, which we added", environment({ finalizers: [FINALIZER] }), environment({}), 0],
    ["a foreign finalizer", environment({ finalizers: ["f"] }), environment({}), 0],
    ["another of the same name", environment({ uid: "other" }), environment({}), 1],
    [
      "a status, which we wrote",
      environment({ resourceVersion: "2" }, { status: { phase: "ready" } }),
      environment({}),
      0,
    ],
    ["its end", undefined, environment({}), 0],
  ])("%s", (_what, current, previous, passes) => {
    const { woken, tell } = scene();
    tell.environment?.("shop", current, previous);
    expect(woken).toHaveLength(passes);
  });
});

describe("what belongs to an environment", () => {
  test.each([
    ["appears", child(), undefined, 0],
    ["goes", undefined, child(), 1],
    ["changes", newer(child({ spec: { a: 2 } })), child({ spec: { a: 1 } }), 1],
    ["loses a label", newer(child(), { labels: {} }), child(), 1],
    ["says the same in a new version", newer(child()), child(), 0],
  ])("%s", (_what, current, previous, passes) => {
    const { woken, tell } = scene();
    tell.child?.("env-shop", current, previous);
    expect(woken).toEqual(Array.from({ length: passes }, () => "shop"));
  });

  test("without a label, or with an unknown one, enqueues nothing", () => {
    const { woken, tell } = scene();
    for (const labels of [undefined, { [ENVIRONMENT_UID_LABEL]: "unknown" }]) {
      tell.child?.("env-shop", undefined, newer(child(), { labels }));
    }
    expect(woken).toEqual([]);
  });
});

describe("deletions of hundreds come after changes that users wait for", () => {
  test.each<[string, EphemeralEnvironment, Priority]>([
    ["a living environment", environment({}), "high"],
    ["one on its way out", environment({ deletionTimestamp: "x" }), "low"],
  ])("%s", (_what, known, expected) => {
    const priorities: (Priority | undefined)[] = [];
    const { tell } = scene([known], (_name, priority) => void priorities.push(priority));
    tell.environment?.("shop", known, undefined);
    tell.child?.("env-shop", undefined, child());
    expect(priorities).toEqual([expected, expected]);
  });
});

describe("a Repository", () => {
  test.each([
    ["that appears", repositoryFixture(), undefined, ["shop"]],
    [
      "that changes",
      { ...repositoryFixture(), metadata: { ...repositoryFixture().metadata, generation: 2 } },
      repositoryFixture(),
      ["shop"],
    ],
    ["that was only checked", { ...repositoryFixture(), status: { reachable: true } }, repositoryFixture(), []],
    ["that goes", undefined, repositoryFixture(), ["shop"]],
    ["that is not used", repositoryFixture("other"), undefined, []],
  ])("%s wakes the environments that use it", (_what, current, previous, expected) => {
    const { woken, tell } = scene();
    tell.repository?.("key", current, previous);
    expect(woken).toEqual(expected);
  });
});

interface VersionChange {
  readonly name: string;
  readonly status: "True" | "False";
  readonly current?: WireObject;
  readonly previous?: WireObject;
  readonly expected: readonly string[];
}

describe("a config set wakes, when it", () => {
  const judged = (status: "True" | "False") => {
    const condition = { type: "ConfigurationResolved", status, reason: "", message: "", lastTransitionTime: "" };
    const configSet = { name: "web", version: 1, revision: "web-0a1b2c3d-1" };
    return environmentFixture({ status: { conditions: [condition], configSet } });
  };
  const revision = (name = "web-0a1b2c3d-1"): WireObject => {
    const object = child();
    return { ...object, metadata: { ...object.metadata, name, labels: { [CONFIG_SET_LABEL]: "web" } } };
  };

  test.each([
    { name: "appears: who waits for it", status: "False", current: configSetFixture(), expected: ["shop"] },
    { name: "changes: who waits for it", status: "False", previous: configSetFixture(), expected: ["shop"] },
    { name: "changes: not who has a version", status: "True", previous: configSetFixture(), expected: [] },
    {
      name: "appears and no environment uses it: none",
      status: "False",
      current: configSetFixture("other"),
      expected: [],
    },
  ] as const)("$name", ({ status, expected, ...change }) => {
    const { woken, tell } = scene([judged(status)]);
    const { current = configSetFixture(), previous } = { current: undefined, previous: undefined, ...change };
    tell.configSet?.("key", current, previous);
    expect(woken).toEqual(expected);
  });

  test.each([
    { name: "goes: who has it", status: "True", previous: revision(), expected: ["shop"] },
    { name: "goes: not who has another", status: "True", previous: revision("web-0a1b2c3d-2"), expected: [] },
    { name: "appears: who waits for one", status: "False", current: revision(), expected: ["shop"] },
    { name: "appears: not who has one", status: "True", current: revision(), expected: [] },
    {
      name: "is noted as unused: none",
      status: "False",
      current: newer(revision()),
      previous: revision(),
      expected: [],
    },
  ] satisfies VersionChange[])("has a version that $name", ({ status, expected, ...change }) => {
    const { woken, tell } = scene([judged(status)]);
    const { current, previous } = { current: undefined, previous: undefined, ...change };
    tell.revision?.("key", current, previous);
    expect(woken).toEqual(expected);
  });
});

test("nothing is enqueued after the end", () => {
  const { tell, stop } = scene();
  stop();
  expect(tell).toEqual({});
});

describe("both ends of a copy", () => {
  const copy = (status: EphemeralEnvironment["status"] = {}) =>
    environmentFixture({
      spec: { database: { provision: true, from: { environment: "shop" } } },
      status,
      metadata: { name: "copy" },
    });
  const made = copy({ database: { made: true, from: { environment: "shop" } } });

  test.each([
    ["a copy begins: its source lets it in", copy(), undefined, ["copy", "shop"]],
    ["a copy is made: its source closes", made, copy(), ["shop"]],
    ["a copy is as before", copy({ phase: "creating" }), copy(), []],
    ["a copy goes: its source closes", undefined, copy(), ["shop"]],
  ])("%s", (_what, current, previous, expected) => {
    const { woken, tell } = scene([]);
    tell.environment?.("copy", current, previous);
    expect(woken).toEqual(expected);
  });

  test("a copy that is to be made looks at any change of its source", () => {
    const { woken, tell } = scene([copy()]);
    const [before, after] = [environment({}), environment({}, { status: { phase: "ready" } })];
    tell.environment?.("shop", after, before);
    expect(woken).toEqual(["copy"]);
  });
});

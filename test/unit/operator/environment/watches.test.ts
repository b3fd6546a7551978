import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL, FINALIZER } from "../../../../crds/group.ts";
import type { Repository } from "../../../../crds/repository.ts";
import { BY_REPOSITORY, BY_UID, type Caches } from "../../../../operator/caches.ts";
import { wakeOnChanges } from "../../../../operator/environment/watches.ts";
import type { WireObject } from "../../../../operator/kinds.ts";
import { environmentFixture, repositoryFixture, UID } from "../../../support/environment-fixture.ts";

type Change<T> = (key: string, current: T | undefined, previous: T | undefined) => void;

/** A cache that knows one environment and tells what a test says. */
function scene() {
  const woken: string[] = [];
  const tell: {
    environment?: Change<EphemeralEnvironment>;
    repository?: Change<Repository>;
    child?: Change<WireObject>;
  } = {};
  const subscribed = <K extends keyof typeof tell>(key: K) => ({
    subscribe(listener: (typeof tell)[K]) {
      tell[key] = listener;
      return () => delete tell[key];
    },
  });
  const known = [environmentFixture()];
  const by = (index: string, value: string) =>
    (index === BY_UID && value === UID) || (index === BY_REPOSITORY && value === "shop-api") ? known : [];
  const caches = {
    environments: { ...subscribed("environment"), by },
    repositories: subscribed("repository"),
    children: new Map([["namespaces", subscribed("child")]]),
  } as unknown as Caches;
  const stop = wakeOnChanges(caches, (name) => void woken.push(name));
  return { woken, tell, stop };
}

const environment = (metadata: object, rest: Parameters<typeof environmentFixture>[0] = {}) =>
  environmentFixture({ ...rest, metadata });
const child = (change: object = {}): WireObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    ...{ name: "env-shop", uid: "child", resourceVersion: "1", creationTimestamp: "" },
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
    ["somebody else's finalizer", environment({ finalizers: ["f"] }), environment({}), 0],
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

  test("without a label, or with an unknown one, wakes nobody", () => {
    const { woken, tell } = scene();
    for (const labels of [undefined, { [ENVIRONMENT_UID_LABEL]: "unknown" }]) {
      tell.child?.("env-shop", undefined, newer(child(), { labels }));
    }
    expect(woken).toEqual([]);
  });
});

describe("a Repository", () => {
  test.each([
    ["that appears", repositoryFixture(), undefined, ["shop"]],
    ["that changes", repositoryFixture(), repositoryFixture(), ["shop"]],
    ["that goes", undefined, repositoryFixture(), ["shop"]],
    ["that nobody uses", repositoryFixture("other"), undefined, []],
  ])("%s wakes the environments that use it", (_what, current, previous, expected) => {
    const { woken, tell } = scene();
    tell.repository?.("key", current, previous);
    expect(woken).toEqual(expected);
  });
});

test("nobody is woken after the end", () => {
  const { tell, stop } = scene();
  stop();
  expect(tell).toEqual({});
});

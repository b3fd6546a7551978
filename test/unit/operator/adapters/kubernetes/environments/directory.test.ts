import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type {
  EnvironmentSpec,
  EphemeralEnvironment,
  Phase,
} from "../../../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentDirectory } from "../../../../../../operator/adapters/kubernetes/environments/directory.ts";
import { createObjectCache } from "../../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../../operator/kit/cache/object-cache.ts";
import type { EnvironmentPage, EnvironmentQuery } from "../../../../../../operator/ports/api/environments.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { listed } from "../../../../../support/fixtures/environment/environment-list.ts";

type Cache = ObjectCache<EphemeralEnvironment> & CacheFeed<EphemeralEnvironment>;

interface Traits {
  readonly number: number;
  readonly phase: Phase | undefined;
  readonly owner: EnvironmentSpec["owner"];
  readonly access: EnvironmentSpec["access"];
  readonly isLeaving: boolean;
  /** A different UID under the same name. */
  readonly life: number;
}

const fixture = environmentFixture();
// Shared objects, as in the cache.
const owners = [undefined, ...["ann", "bob"].map((who) => ({ subject: who, email: `${who}@example.test`, name: who }))];
const accesses = [undefined, { groups: ["red"] }, { groups: ["red", "blue"] }];
const phases: readonly (Phase | undefined)[] = ["ready", "failed", undefined];

let version = 0;
function environmentOf({ number, phase, owner, access, isLeaving, life }: Traits): EphemeralEnvironment {
  version += 1;
  const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const metadata = {
    name: `shop-${number.toString(3)}`,
    uid: `${number}/${life}`,
    resourceVersion: String(version),
    generation: 1,
    creationTimestamp: at((17e8 + ((number + life) % 5)) * 1e3),
    ...(isLeaving ? { deletionTimestamp: at(1700001e6) } : {}),
  };
  const spec: EnvironmentSpec = { backend: fixture.spec.backend, ...(owner && { owner }), ...(access && { access }) };
  const { status: _, ...bare } = fixture;
  return { ...bare, metadata, spec, ...(phase === undefined ? {} : { status: { phase } }) };
}

const traits = fc.record({
  number: fc.nat(30),
  phase: fc.constantFrom(...phases),
  owner: fc.constantFrom(...owners),
  access: fc.constantFrom(...accesses),
  isLeaving: fc.boolean(),
  life: fc.nat(2),
});

const isVisible = fc.constantFrom<EnvironmentQuery["isVisible"]>(
  () => true,
  ({ owner }) => owner?.subject === "ann",
  ({ access }) => access?.groups.includes("blue") ?? false,
);
const momentMs = fc.integer({ min: 1_699_999_999_000, max: 1_700_000_006_000 });
const query: fc.Arbitrary<EnvironmentQuery> = fc.record(
  {
    isVisible,
    phase: fc.constantFrom<Phase>("ready", "failed", "creating", "terminating"),
    search: fc.constantFrom("", "1", "12", "shop-2", "-0", "0\nshop", "\n", "absent"),
    createdFromMs: momentMs,
    createdBeforeMs: momentMs,
    offset: fc.nat(12),
    limit: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: ["isVisible"] },
);

/** Events of the watch, and writes of this process; `confirm` and `relist` bring known versions. */
const step = fc.record({
  kind: fc.constantFrom("upsert", "upsert", "remove", "written", "deleted", "confirm", "relist"),
  traits,
});

async function take(cache: Cache, { kind, traits: given }: { readonly kind: string; readonly traits: Traits }) {
  const environment = environmentOf(given);
  const { name } = environment.metadata;
  const known = cache.get(name);
  if (kind === "upsert") cache.upsert(environment);
  if (kind === "written") cache.written(environment);
  if (kind === "remove" && known) cache.remove(known);
  if (kind === "deleted" && known) cache.deleted(known);
  if (kind === "confirm" && known) cache.upsert(structuredClone(known));
  if (kind !== "relist") return;
  const others = cache.list().filter(({ metadata }) => metadata.name !== name);
  const items = [...others.map((other) => structuredClone(other)), environment];
  await cache.replace(
    { items: new Map(items.map((item) => [item.metadata.name, item])), resourceVersion: "1" },
    cache.beginList(),
  );
}

const names = ({ items }: EnvironmentPage) => items.map(({ metadata }) => metadata.name);

function strangers(directory: EnvironmentDirectory, cache: Cache) {
  const { items } = directory.page({ isVisible: () => true });
  return items.filter((item) => item !== cache.get(item.metadata.name));
}

describe("the directory of environments", () => {
  test("answers every query as a look at each of them does, whatever happened to the cache", async () => {
    const steps = fc.array(step, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        steps,
        steps,
        fc.array(query, { minLength: 1, maxLength: 5 }),
        async (before, after, queries) => {
          const cache: Cache = createObjectCache<EphemeralEnvironment>({});
          for (const one of before) await take(cache, one);
          const directory = new EnvironmentDirectory(cache);
          for (const one of after) {
            await take(cache, one);
            for (const requested of queries) expect(directory.page(requested)).toEqual(listed(cache.list(), requested));
            expect(strangers(directory, cache)).toEqual([]);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test("keeps thousands in order while they come, change and go", () => {
    const cache: Cache = createObjectCache<EphemeralEnvironment>({});
    const directory = new EnvironmentDirectory(cache);
    const everything: EnvironmentQuery = { isVisible: () => true };
    const ofNumber = (number: number, phase: Phase, life = 0) =>
      environmentOf({ number, phase, owner: owners[1], access: undefined, isLeaving: false, life });
    const order = Array.from({ length: 2_000 }, (_, index) => (index * 7919) % 2_000);
    for (const number of order) cache.upsert(ofNumber(number, "creating"));
    expect(names(directory.page(everything))).toEqual(names(listed(cache.list(), everything)));
    for (const number of order.slice(0, 900)) cache.upsert(ofNumber(number, "ready"));
    expect(directory.page({ ...everything, phase: "ready" })).toMatchObject({ total: 900 });
    for (const number of order.slice(300, 1_900)) cache.remove(ofNumber(number, "ready"));
    expect(directory.page({ ...everything, phase: "ready" })).toMatchObject({ total: 300 });
    expect(directory.page(everything)).toEqual(listed(cache.list(), everything));
    for (const environment of cache.list()) cache.remove(environment);
    expect(directory.page(everything)).toEqual({ items: [], total: 0 });
    cache.upsert(ofNumber(1, "ready", 1));
    expect(directory.page(everything)).toMatchObject({ total: 1 });
  });
});

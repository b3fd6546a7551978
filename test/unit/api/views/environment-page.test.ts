import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { pageOf } from "../../../../api/views/environment-page.ts";
import type { EphemeralEnvironment } from "../../../../crds/ephemeral-environment.ts";
import { API_VERSION } from "../../../../crds/group.ts";

function environment(name: string, second: number): EphemeralEnvironment {
  const creationTimestamp = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
  const metadata = { name, uid: name, resourceVersion: "1", generation: 1, creationTimestamp };
  const spec = { backend: { repository: "r", branch: "main" } };
  return { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata, spec };
}

const environments = fc
  .uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1_700_000_000, max: 1_700_000_005 })), {
    selector: ([name]) => name,
    maxLength: 40,
  })
  .map((traits) => traits.map(([name, second]) => environment(name, second)));

const everything = () => true;

test("pages laid end to end are the whole list, each environment once, whatever order it came in", () => {
  fc.assert(
    fc.property(environments, fc.integer({ min: 1, max: 7 }), (all, limit) => {
      const pages = [];
      for (let offset = 0; offset < all.length; offset += limit) {
        const page = pageOf(offset % 2 ? [...all].reverse() : all, everything, { limit, offset });
        expect(page.total).toBe(all.length);
        pages.push(...page.environments);
      }
      expect(pages).toEqual(pageOf([...all].reverse(), everything, { limit: 100 }).environments);
      expect(new Set(pages).size).toBe(all.length);
    }),
  );
});

test("what the caller may not see is on no page and in no number", () => {
  fc.assert(
    fc.property(environments, fc.integer({ min: 1, max: 7 }), (all, limit) => {
      const isVisible = ({ metadata }: EphemeralEnvironment) => metadata.name.length % 2 === 0;
      expect(pageOf(all, isVisible, { limit })).toEqual(pageOf(all.filter(isVisible), everything, { limit }));
    }),
  );
});

test("a moment parts the environments as it parts their times, to the millisecond", () => {
  fc.assert(
    fc.property(environments, fc.integer({ min: 1_699_999_999_000, max: 1_700_000_006_000 }), (all, ms) => {
      const moment = new Date(ms).toISOString();
      const since = all.filter(({ metadata }) => Date.parse(metadata.creationTimestamp) >= ms).length;
      expect(pageOf(all, everything, { created_after: moment }).total).toBe(since);
      expect(pageOf(all, everything, { created_before: moment }).total).toBe(all.length - since);
    }),
  );
});

test.each<[string, number]>([
  ["0000-01-01T00:00:00+14:00", 1],
  ["1969-12-31T23:59:59.999", 1],
  ["9999-12-31T23:59:59.999Z", 0],
  ["9999-12-31T23:59:59-14:00", 0],
])("of one environment, %s has %d after it", (moment, since) => {
  const all = [environment("name", 1_700_000_000)];
  expect(pageOf(all, everything, { created_after: moment }).total).toBe(since);
  expect(pageOf(all, everything, { created_before: moment }).total).toBe(1 - since);
});

test("ten thousand environments are searched and ordered without being changed, in little time", () => {
  const all = Array.from({ length: 10_000 }, (_, n) => environment(`name-${n}`, 1_700_000_000 + ((n * 7919) % 10_000)));
  const before = [...all];
  const started = performance.now();
  const page = pageOf(all, everything, { search: "NAME", limit: 100, offset: 5_000 });
  expect(performance.now() - started).toBeLessThan(500);
  expect(page).toMatchObject({ total: 10_000, limit: 100, offset: 5_000 });
  expect(all).toEqual(before);
});

import { describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { createUsageParts } from "../../../../crds/usage/usage-parts.ts";
import { CREATED, environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const living = (uid: string, generation = 1) => environmentFixture({ metadata: { name: uid, uid, generation } });
const many = Array.from({ length: 200 }, (_, index) => living(`living-${index}`));

const past = (uid: string, reason: RecordSpec["reason"] = "deleted"): RecordSpec => {
  const at = { createdAt: CREATED, deletedAt: CREATED, goneAt: CREATED };
  return { name: uid, uid, reason, teardownSeconds: 0, ...at };
};
const gone = [past("gone-1"), past("gone-2")];

const uidsOf = (parts: ReturnType<ReturnType<typeof createUsageParts>>) =>
  parts
    .flat()
    .map(({ uid }) => uid)
    .sort();

describe("the parts", () => {
  test("have each environment once: its record tells of it as soon as there is one", () => {
    const read = createUsageParts();
    const parts = read([...many, living("gone-1")], [...gone, past("orphan", "orphaned")]);
    expect(uidsOf(parts)).toEqual([...many.map(({ metadata }) => metadata.uid), "gone-1", "gone-2"].sort());
    expect(parts.flat().find(({ uid }) => uid === "gone-1")?.phase).toBeUndefined();
  });

  test("are none without environments", () => {
    expect(createUsageParts()([], [])).toEqual([]);
  });

  interface Change {
    readonly name: string;
    readonly environments: readonly EphemeralEnvironment[];
    readonly records?: readonly RecordSpec[];
  }

  test.each<Change>([
    { name: "an update", environments: [living("living-0", 2), ...many.slice(1)] },
    { name: "a deletion", environments: many.slice(1) },
    { name: "a creation", environments: [...many, living("another")] },
    { name: "a record", environments: many.slice(1), records: [...gone, past("living-0")] },
  ])("but for one are the same lists after $name", ({ environments, records = gone }) => {
    const read = createUsageParts();
    const before = read(many, gone);
    expect(read([...many], gone)).toEqual(before);
    const after = read(environments, records);
    expect(after.filter((part) => !before.includes(part))).toHaveLength(1);
    expect(after.length).toBe(before.length);
  });
});

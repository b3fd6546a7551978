import { describe, expect, test } from "@jest/globals";
import { CONFIRM_DELETION_ANNOTATION } from "../../../../../crds/group.ts";
import { namespaceKind } from "../../../../../operator/kit/client/kinds.ts";
import type { Owner } from "../../../../../operator/ports/cluster.ts";
import { namespaceOf } from "../../../../support/doubles/memory/removal.ts";
import { nothing, owners, scene } from "./swept-orphans.ts";

describe("many orphans at once", () => {
  test.each([
    { orphans: 1, living: 0, isBlocked: false },
    { orphans: 2, living: 0, isBlocked: true },
    { orphans: 5, living: 1, isBlocked: false },
    { orphans: 6, living: 1, isBlocked: true },
    { orphans: 10, living: 100, isBlocked: false },
    { orphans: 11, living: 100, isBlocked: true },
  ])("are held when implausible: $orphans beside $living environments", async ({ orphans, living, isBlocked }) => {
    const world = await scene(owners(orphans), { living });
    await world.sweep();
    expect(await world.sweepLater()).toEqual({ ...nothing, orphans, removed: isBlocked ? 0 : orphans, isBlocked });
    expect(await world.remaining()).toBe(isBlocked ? orphans : 0);
    expect(world.words("OrphansBlocked")).toHaveLength(isBlocked ? 1 : 0);
  });

  test("go when an admin confirmed them, and the rest when it is few", async () => {
    const gone = owners(7);
    const [first, second] = gone as [Owner, Owner];
    const world = await scene(gone, { living: 1 });
    await world.sweep();
    world.cluster.annotate(namespaceKind, namespaceOf(first), { [CONFIRM_DELETION_ANNOTATION]: "true" });
    expect(await world.sweepLater()).toEqual({ orphans: 7, removing: 0, stuck: 0, removed: 1, isBlocked: true });
    expect([await world.left(first), await world.remaining()]).toEqual([[], 6]);
    world.known.add(second.uid);
    expect(await world.sweep()).toEqual({ orphans: 5, removing: 0, stuck: 0, removed: 5, isBlocked: false });
  });

  test("are reported in a few Events, and first that the deletion budget blocks them", async () => {
    const world = await scene(owners(300), { living: 100 });
    await world.sweep();
    expect(world.said()[0]).toBe("OrphansBlocked");
    expect(world.words("OrphansBlocked")[0]).toContain("where only secrets are left");
    expect(world.words("OrphanFound")).toHaveLength(11);
    expect(world.words("OrphanFound").at(-1)).toBe("the same applies to 290 more environments");
    await world.sweep();
    expect(world.words("OrphanFound")).toHaveLength(11);
  });
});

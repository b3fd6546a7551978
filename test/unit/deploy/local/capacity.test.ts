import { describe, expect, test } from "@jest/globals";
import { whyTooSmall } from "../../../../deploy/local/capacity.ts";

const GB = 1e9;
const GIB = 2 ** 30;
const cache = { folder: "/root/.cache", device: 1 };
const state = { folder: "/srv/checkout/.local", device: 1 };
const large = { freeDisk: 100 * GB, memory: 16 * GIB };

describe("a machine", () => {
  test.each([
    { name: "has room for a first start", freeDisk: 13 * GB, unbuilt: 1 },
    { name: "needs little where everything is built", freeDisk: 3.5 * GB, unbuilt: 0 },
    { name: "needs what is missing alone", freeDisk: 8 * GB, unbuilt: 0.5 },
  ])("$name", ({ freeDisk, unbuilt }) => {
    const disks = { cache: { ...cache, freeBytes: freeDisk }, state: { ...state, freeBytes: freeDisk } };
    expect(whyTooSmall({ disks, availableMemoryBytes: large.memory, unbuilt })).toBeUndefined();
  });

  test.each([
    { name: "one disk for all", freeDisk: 11.04 * GB, unbuilt: 1, words: "11.0 GB are free at /root/.cache, and" },
    { name: "one disk for all", freeDisk: 11 * GB, unbuilt: 1, words: "needs about 12 GB there" },
    { name: "everything built", freeDisk: 2 * GB, unbuilt: 0, words: "needs about 3 GB there" },
  ])("whose disk is too small says so, with the next step: $name, $words", ({ freeDisk, unbuilt, words }) => {
    const disks = { cache: { ...cache, freeBytes: freeDisk }, state: { ...state, freeBytes: freeDisk } };
    const reported = whyTooSmall({ disks, availableMemoryBytes: large.memory, unbuilt });
    expect(reported).toContain(words);
    expect(reported).toMatch(/free some|another disk/i);
  });

  test("with two disks has to have room on each", () => {
    const disks = {
      cache: { ...cache, freeBytes: 10 * GB },
      state: { ...state, device: 2, freeBytes: 2 * GB },
    };
    const reported = whyTooSmall({ disks, availableMemoryBytes: large.memory, unbuilt: 1 });
    expect(reported).toContain("2.0 GB are free at /srv/checkout/.local, and the local cluster needs about 3 GB there");
  });

  test("with little memory says so, with the alternative", () => {
    const disks = { cache: { ...cache, freeBytes: large.freeDisk }, state: { ...state, freeBytes: large.freeDisk } };
    const reported = whyTooSmall({ disks, availableMemoryBytes: 3 * GIB, unbuilt: 0 });
    expect(reported).toContain("3.0 GiB of memory are available, and the local cluster needs about 4 GiB");
    expect(reported).toContain("CLUSTER=existing");
  });
});

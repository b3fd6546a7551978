import { describe, expect, test } from "@jest/globals";
import { bodyMemory, type HeldBytes } from "../../../../operator/kit/body-memory.ts";

const MIB = 1_048_576;
const KIB_64 = 65_536;

const heldBy = (bodies: readonly HeldBytes[]) =>
  bodies.flatMap((body) => body.pieces()).reduce((sum, { length }) => sum + length, 0);

describe("the memory of bodies that arrive", () => {
  test("bounds what all have beyond 64 KiB of each, and is free again after each body", () => {
    const memory = bodyMemory(MIB);
    const bodies = Array.from({ length: 100 }, () => memory.begin());
    const addToAll = () => bodies.map((body) => body.add(Buffer.alloc(KIB_64)));
    expect(addToAll()).toEqual(Array(100).fill(true));
    expect(addToAll()).toEqual([...Array(16).fill(true), ...Array(84).fill(false)]);
    expect(heldBy(bodies)).toBe(100 * KIB_64 + MIB);
    bodies[0]?.drop();
    expect(bodies[99]?.add(Buffer.alloc(KIB_64 + 1))).toBe(false);
    expect(bodies[99]?.add(Buffer.alloc(KIB_64))).toBe(true);
    for (const body of [...bodies, ...bodies]) body.drop();
    expect(heldBy(bodies)).toBe(0);
    expect(memory.begin().add(Buffer.alloc(MIB + KIB_64))).toBe(true);
  });

  test("a body of single bytes costs no more than one in large pieces", () => {
    const body = bodyMemory(MIB - KIB_64).begin();
    for (let at = 0; at < MIB; at++) body.add(Buffer.from([at & 0xff]));
    expect(body.length).toBe(MIB);
    expect(body.pieces().length).toBeLessThan(20);
    expect(body.add(Buffer.from([0]))).toBe(false);
  });
});

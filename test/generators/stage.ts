import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, clients } from "./clients.ts";

/** How many clients came to be, how many did not, and for how many this machine lacks a tool. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Has the generators that people use make clients of the OpenAPI document, side by side, and compiles each. What failed
 * is printed with what the tool wrote, what is skipped with what it needs.
 */
export async function tryGenerators(): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "generators-"));
  try {
    const ends = await Promise.all(clients.map((client, index) => tryClient(client, join(folder, `${index}`))));
    const count = (end: keyof Outcome) => ends.filter((one) => one === end).length;
    return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function tryClient({ name, obstacles, make }: Client, folder: string): Promise<keyof Outcome> {
  const found = (await Promise.all(obstacles.map((obstacle) => obstacle()))).find((one) => one !== undefined);
  if (found !== undefined) {
    console.log(`skipped ${name}. ${found}`);
    return "skipped";
  }
  const began = performance.now();
  try {
    await mkdir(folder);
    await make(folder);
    console.log(`ok   ${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return "passed";
  } catch (error) {
    console.log(`FAIL ${name}: ${(error as Error).message}`);
    return "failed";
  }
}

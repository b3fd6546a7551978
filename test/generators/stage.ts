import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheRoot, hashOfFiles } from "../../deploy/local/builds/build.ts";
import { checkout } from "../stages/command.ts";
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
 *
 * With `remembers`, all count as passed where they passed on this machine before, with the same document, generators and
 * packages.
 */
export async function tryGenerators({ remembers }: { readonly remembers: boolean }): Promise<Outcome> {
  const held = join(cacheRoot(), `clients-held-${await hashOfFiles(checkout, INPUT)}`);
  if (remembers && existsSync(held)) {
    console.log("ok   the clients were made before from the same document, generators and packages");
    return { passed: clients.length, failed: 0, skipped: 0 };
  }
  const folder = await mkdtemp(join(tmpdir(), "generators-"));
  try {
    const ends = await Promise.all(clients.map((client, index) => tryClient(client, join(folder, `${index}`))));
    const count = (end: keyof Outcome) => ends.filter((one) => one === end).length;
    const outcome = { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
    if (outcome.passed === clients.length) await writeFile(held, "");
    return outcome;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a client is made from, and by which generators. */
const INPUT = ["api/openapi.json", "package-lock.json", "test/generators/**/*.*"];

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

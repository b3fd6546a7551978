import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheRoot, hashOfFiles } from "../../deploy/build/folders.ts";
import { checkout } from "../stages/command.ts";
import { countOf, type Outcome, outcomeOf } from "../stages/outcome.ts";
import { type Client, clients } from "./clients.ts";

/**
 * Generates clients of the OpenAPI document by common generators, concurrently, and compiles each. Prints the tool's output
 * of failures, and the requirement of skipped ones.
 *
 * With `remembers`, all count as passed after an earlier success on this machine with the same document, generators and
 * packages.
 */
export async function tryGenerators({ remembers }: { readonly remembers: boolean }): Promise<Outcome[]> {
  const held = join(cacheRoot(), `clients-held-${await hashOfFiles(checkout, INPUT)}`);
  if (remembers && existsSync(held)) {
    console.log("ok   the clients were made before from the same document, generators and packages");
    return [outcomeOf("generators", { passed: clients.length })];
  }
  const folder = await mkdtemp(join(tmpdir(), "generators-"));
  try {
    const outcomes = await Promise.all(clients.map((client, index) => tryClient(client, join(folder, `${index}`))));
    if (countOf(outcomes).passed === clients.length) await writeFile(held, "");
    return outcomes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const INPUT = ["api/openapi.json", "package-lock.json", "test/generators/**/*.*"];

async function tryClient({ name, obstacles, make }: Client, folder: string): Promise<Outcome> {
  const found = (await Promise.all(obstacles.map((obstacle) => obstacle()))).find((one) => one !== undefined);
  if (found !== undefined) {
    console.log(`skipped ${name}. ${found}`);
    return outcomeOf("generators", { skipped: 1 });
  }
  const began = performance.now();
  try {
    await mkdir(folder);
    await make(folder);
    console.log(`ok   ${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return outcomeOf("generators", { passed: 1 });
  } catch (error) {
    const { message } = error as Error;
    console.log(`FAIL ${name}: ${message}`);
    return outcomeOf("generators", { failures: [{ title: `client of ${name}`, message }] });
  }
}

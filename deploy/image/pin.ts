/**
 * Pins the image's ingredients to the current versions of Debian and npm, for this machine's architecture. Check the
 * difference.
 */

import { hash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import packageJson from "../../package.json" with { type: "json" };
import { machineArchitecture } from "../build/archive.ts";
import { run } from "../build/run.ts";
import { nodeProgram } from "./base.ts";
import { type DebianPackage, newestPackage } from "./debian.ts";
import { type Pins, pinsFile } from "./pins.ts";
import { publishedNode } from "./published-node.ts";

/** Node's libraries, the trusted authorities, and the licence of the compiler's libraries. */
const NAMES = ["ca-certificates", "gcc-12-base", "libc6", "libgcc-s1", "libstdc++6"];

if (process.getuid?.() === 0) await run("apt-get", ["--quiet", "update"], { deadlineMs: 10 * 60_000 });
const packages: DebianPackage[] = [];
for (const name of NAMES) packages.push(await newestPackage(name));
const [, debian = ""] = /^VERSION_ID="?(\d+)/m.exec(await readFile("/etc/os-release", "utf8")) ?? [];
const sha256 = hash("sha256", await readFile(nodeProgram));
const node = await publishedNode(packageJson.devDependencies.node);
if (node.sha256 !== sha256)
  throw new Error(`Node ${node.version} as it is installed here is not what npm publishes: run "npm ci" again`);
const own: Pins = { debian, packages, node };
const before = JSON.parse(await readFile(pinsFile, "utf8").catch(() => "{}")) as Record<string, Pins>;
await writeFile(pinsFile, `${JSON.stringify({ ...before, [machineArchitecture()]: own }, null, 2)}\n`);
console.log(`pinned in ${pinsFile}`);

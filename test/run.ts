/** Runs the stages of the test suite, and ends with the failures and `N passed, N failed`. Usage: run.ts [STAGE …] */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stateFolder } from "../deploy/build/folders.ts";
import { showProgress } from "../deploy/build/progress.ts";
import { buildAll } from "../deploy/local/builds/build-all.ts";
import stages from "./stages/list.ts";
import { assertRoomForClusters } from "./stages/local-clusters.ts";
import { runStages } from "./stages/run-stages.ts";

// Every fault plan in a run of faults alone; among other stages one in eight, selected by the seed.
process.env.FAULT_SHARE ??= process.argv.includes("faults") ? "1" : "8";
// Otherwise a stage's programs would compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache");
// API servers, etcd and the like collect garbage less often: they live for minutes, and processors are scarce.
process.env.GOGC ??= "400";

const names = stages.flatMap((one) => one.names);
const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`unknown stage: ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

if (requested.length === 0) {
  await assertRoomForClusters().catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
  // A whole run builds first, with visible progress. The stage that needs a build repeats its error.
  await buildAll(showProgress()).catch((error: Error) => console.error(error.message));
}

const list = new URL("stages/list.ts", import.meta.url).href;
const passed = await runStages({ list, requested, logsFolder: join(stateFolder, "test") });
process.exitCode = passed ? 0 : 1;

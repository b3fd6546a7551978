/** Writes the dashboards into the chart; with `--check` fails instead when they are not up to date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { built } from "./board.ts";
import { controllers } from "./controllers.ts";
import { dependencies } from "./dependencies.ts";
import { overview } from "./overview.ts";

const folder = new URL("../charts/platform/files/dashboards/", import.meta.url);
const check = process.argv.includes("--check");

if (!check) mkdirSync(folder, { recursive: true });
for (const board of [overview, controllers, dependencies]) {
  const file = new URL(`${board.name}.json`, folder);
  const wanted = `${JSON.stringify(built(board), undefined, 2)}\n`;
  if (!check) writeFileSync(file, wanted);
  else if (!existsSync(file) || readFileSync(file, "utf8") !== wanted) {
    console.error(`${board.name}.json of the chart's dashboards is not up to date: run 'make generate' and commit it`);
    process.exitCode = 1;
  }
}

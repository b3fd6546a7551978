/** Writes the dashboards into the chart; with `--check` fails when they are outdated. */
import { generated } from "../../crds/generated.ts";
import { built } from "./board.ts";
import { controllers } from "./controllers.ts";
import { dependencies } from "./dependencies.ts";
import { overview } from "./overview.ts";

for (const board of [overview, controllers, dependencies]) {
  const content = `${JSON.stringify(built(board), undefined, 2)}\n`;
  generated(`deploy/charts/platform/files/dashboards/${board.name}.json`, content);
}

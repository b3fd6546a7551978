/** Builds the platform's image and says what it is. Usage: main.ts [--folder FOLDER] */
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { stateFolder } from "../local/folders.ts";
import { showProgress } from "../local/progress.ts";
import { buildImage } from "./image.ts";

const { values } = parseArgs({ options: { folder: { type: "string", default: join(stateFolder, "image") } } });
const image = await showProgress().step("build the image", () => buildImage(values.folder));
const { size } = await stat(image.archive);
const layers = Object.entries(image.layers).map(([name, layer]) => `${name} ${mebibytes(layer.size)}`);
console.log(`
digest   ${image.digest}
archive  ${relative(process.cwd(), image.archive)}, ${mebibytes(size)}
layers   ${layers.join(", ")}
root     ${relative(process.cwd(), image.root)}`);

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

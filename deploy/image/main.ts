/** Builds the platform's image and prints its facts. Usage: main.ts [--folder FOLDER] */
import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { stateFolder } from "../build/folders.ts";
import { showProgress } from "../build/progress.ts";
import { whyNoContainer } from "./container.ts";
import { buildImage } from "./image.ts";
import { measureStart } from "./start-time.ts";

const { values } = parseArgs({ options: { folder: { type: "string", default: join(stateFolder, "image") } } });
const image = await showProgress().step("build the image", () => buildImage(values.folder));
const { size } = await stat(image.archive);
const layers = Object.entries(image.layers).map(([name, layer]) => `${name} ${mebibytes(layer.size)}`);
console.log(`
digest   ${image.digest}
archive  ${relative(process.cwd(), image.archive)}, ${mebibytes(size)}
layers   ${layers.join(", ")}
sbom     ${relative(process.cwd(), image.sbom)}, CycloneDX
root     ${relative(process.cwd(), image.root)}
start    ${whyNoContainer() ?? (await startTime())}`);

async function startTime(): Promise<string> {
  const { ms, bytes } = await measureStart(image.root);
  const figures = `${(ms / 1000).toFixed(1)} s until it listens, then ${mebibytes(bytes)} resident`;
  return `${figures}, in a container of runc with a read-only root and without a cluster`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

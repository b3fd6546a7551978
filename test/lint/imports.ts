import { checkoutFiles, reportFindings } from "./checkout.ts";
import { circles, forbidden, type Import, importsOf } from "./import-rules.ts";
import { WITHOUT_CIRCLES, ZONES } from "./zones.ts";

const files = checkoutFiles(/\/.*\.(ts|tsx|mjs)$/);
const imports = files.flatMap(({ path, text }) => importsOf(path, text));

const found = new Set(WITHOUT_CIRCLES.flatMap((parent) => circles(imports, parent)));
const problems = [
  ...forbidden(imports, ZONES).map(({ from, to }) => `${from} imports ${to}`),
  ...[...found].map((circle) => `a circle: ${circle}${within(circle)}`),
];
reportFindings(problems, "test/lint/zones.ts has the imports that are allowed");

/** The imports that make a circle. */
function within(circle: string): string {
  const folders = circle.split(", ");
  const folderOf = (path: string) => folders.find((folder) => path.startsWith(`${folder}/`));
  const isInside = ({ from, to }: Import) =>
    folderOf(from) !== undefined && folderOf(to) !== undefined && folderOf(from) !== folderOf(to);
  return imports
    .filter(isInside)
    .map(({ from, to }) => `\n  ${from} imports ${to}`)
    .join("");
}

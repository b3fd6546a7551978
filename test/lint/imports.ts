import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { circles, forbidden, type Import, importsOf } from "./import-rules.ts";
import { WITHOUT_CIRCLES, ZONES } from "./zones.ts";

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
const files = listed.split("\n").filter((file) => file.includes("/") && /\.(ts|tsx|mjs)$/.test(file));
const imports = files.flatMap((file) => importsOf(file, readIfThere(file)));

const found = new Set(WITHOUT_CIRCLES.flatMap((parent) => circles(imports, parent)));
const problems = [
  ...forbidden(imports, ZONES).map(({ from, to }) => `${from} imports ${to}`),
  ...[...found].map((circle) => `a circle: ${circle}${within(circle)}`),
];
for (const problem of problems) console.log(problem);
if (problems.length > 0) {
  console.log(`${problems.length} imports or circles of folders that test/lint/zones.ts does not allow.`);
  process.exitCode = 1;
}

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

/** A file that is deleted and not yet committed has no imports. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Writes `openapi.json` beside this file; with `--check` fails instead when it is not up to date. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { openApiDocument } from "./openapi/document.ts";
import { listRoutes } from "./routes.ts";

const documentFile = new URL("openapi.json", import.meta.url);

const wanted = `${JSON.stringify(openApiDocument(listRoutes()), null, 2)}\n`;

if (!process.argv.includes("--check")) writeFileSync(documentFile, wanted);
else if (!existsSync(documentFile) || readFileSync(documentFile, "utf8") !== wanted) {
  process.stderr.write("api/openapi.json is not up to date: run 'make generate' and commit the result\n");
  process.exitCode = 1;
}

/** Writes `openapi.json`; with `--check` fails instead when it is outdated. */
import { generated } from "../crds/generated.ts";
import { openApiDocument } from "./openapi/document.ts";
import { listRoutes } from "./routes.ts";

const content = `${JSON.stringify(openApiDocument(listRoutes()), null, 2)}\n`;

generated("api/openapi.json", content);

/** Writes `operations.gen.ts`; with `--check` fails instead when it is outdated. */

import document from "../../../api/openapi.json" with { type: "json" };
import { generated } from "../../../crds/generated.ts";
import type { Document } from "../../sdk/operations.ts";
import { inputsOf } from "./operation-inputs.ts";

const ROUTES = [
  "GET /api/v2/environments",
  "GET /api/v2/environments/{environment_id}",
  "POST /api/v2/environments",
  "GET /api/v2/environments/{environment_id}/stream",
  "GET /api/v2/environments/{environment_id}/logs/{component}",
  "PUT /api/v2/environments/{environment_id}",
  "PATCH /api/v2/environments/{environment_id}",
  "DELETE /api/v2/environments/{environment_id}",
];

generated(
  "clients/cli/mcp/operations.gen.ts",
  `// Written from api/openapi.json by clients/cli/mcp/generate.ts: run 'make generate' after a change.
import type { OperationInput } from "./operation-inputs.ts";

/** Inputs of the operations that tools call. */
export const OPERATIONS = ${JSON.stringify(inputsOf(document as unknown as Document, ROUTES), null, 2)} as const satisfies Readonly<Record<string, OperationInput>>;
`,
);

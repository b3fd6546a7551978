/** Writes `api.gen.ts`; with `--check` fails instead when it is outdated. */

import document from "../../api/openapi.json" with { type: "json" };
import { generated } from "../../crds/generated.ts";
import { type Document, typesOfDocument } from "./operations.ts";

generated("clients/sdk/api.gen.ts", typesOfDocument(document as unknown as Document));

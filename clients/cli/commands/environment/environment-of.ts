import type { EnvironmentReport } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";

/** Environment by its name or id. @throws PlatformError when it is not found */
export function environmentOf(context: Context, nameOrId: string): Promise<EnvironmentReport> {
  return context.client().call("GET /api/v2/environments/{environment_id}", { path: { environment_id: nameOrId } });
}

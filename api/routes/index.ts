import type { Route } from "../route.ts";
import { accountRoutes } from "./account.ts";
import { configSetRoutes } from "./config-sets.ts";
import { demoRoutes } from "./demos.ts";
import { environmentLogRoutes } from "./environment-logs.ts";
import { environmentUpkeepRoutes } from "./environment-upkeep.ts";
import { environmentUrlRoutes } from "./environment-urls.ts";
import { environmentRoutes } from "./environments.ts";
import { healthRoutes } from "./health.ts";
import { helmRoutes } from "./helm.ts";
import { passwordResetRoutes } from "./password-reset.ts";
import { repositoryRoutes } from "./repositories.ts";
import { tokenRoutes } from "./tokens.ts";

/** Every route of the interface. What is served, documented and tested is read from here: a new one is added here. */
export function listRoutes(): readonly Route[] {
  return [
    ...configSetRoutes,
    ...environmentRoutes,
    ...environmentUrlRoutes,
    ...environmentLogRoutes,
    ...environmentUpkeepRoutes,
    ...repositoryRoutes,
    ...helmRoutes,
    ...demoRoutes,
    ...tokenRoutes,
    ...accountRoutes,
    ...passwordResetRoutes,
    ...healthRoutes,
  ];
}

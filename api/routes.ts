import { accountRoutes } from "./account/routes.ts";
import { configSetRoutes } from "./config-sets/routes.ts";
import { costRoutes } from "./costs/routes.ts";
import { demoRoutes } from "./demos/routes.ts";
import { environmentRoutes } from "./environments/routes.ts";
import { extensionRoutes } from "./extensions/routes.ts";
import { healthRoutes } from "./health/routes.ts";
import { helmRoutes } from "./helm/routes.ts";
import { insightRoutes } from "./insights/routes.ts";
import { observabilityRoutes } from "./observability/routes.ts";
import { repositoryRoutes } from "./repositories/routes.ts";
import type { Route } from "./route.ts";
import { tokenRoutes } from "./tokens/routes.ts";
import { deliveryRoutes } from "./webhooks/delivery-routes.ts";
import { hookRoutes } from "./webhooks/hook-routes.ts";
import { webhookRoutes } from "./webhooks/routes.ts";

/** Every route of the interface: the source of serving, documentation and tests. */
export function listRoutes(): readonly Route[] {
  return [
    ...configSetRoutes,
    ...environmentRoutes,
    ...extensionRoutes,
    ...repositoryRoutes,
    ...helmRoutes,
    ...demoRoutes,
    ...tokenRoutes,
    ...accountRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
    ...hookRoutes,
    ...observabilityRoutes,
    ...costRoutes,
    ...insightRoutes,
    ...healthRoutes,
  ];
}

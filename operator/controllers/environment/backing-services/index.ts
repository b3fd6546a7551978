import type { BackingService } from "./backing-service.ts";
import { postgresql } from "./postgresql.ts";

/** Available backing services. */
export const BACKING_SERVICES: readonly BackingService[] = [postgresql];

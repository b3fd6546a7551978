import type { BackingService } from "./backing-service.ts";
import { postgresql } from "./postgresql.ts";

/** The backing services that environments may have. */
export const BACKING_SERVICES: readonly BackingService[] = [postgresql];

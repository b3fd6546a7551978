import type { EnvironmentQuery } from "../../operator/ports/facade/environments.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { instantMs } from "../input/instant.ts";
import type { ListQuery } from "./schemas.ts";

/** The environments that a caller asks for; one that the caller may not see never matches, so that no total counts it. */
export function environmentQuery(
  { status, search, created_after, created_before }: ListQuery,
  caller: Caller,
): EnvironmentQuery {
  return {
    isVisible: visibleTo(caller),
    ...(status === undefined ? {} : { phase: status }),
    // Names are lower case.
    ...(search === undefined ? {} : { search: search.toLowerCase() }),
    ...(created_after === undefined ? {} : { createdFromMs: instantMs(created_after) }),
    ...(created_before === undefined ? {} : { createdBeforeMs: instantMs(created_before) }),
  };
}

import { type Static, Type } from "typebox";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { SLEEP_STATES } from "../../crds/sleep.schema.ts";
import type { EnvironmentQuery } from "../../operator/ports/api/environments.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { instantMs } from "../input/instant.ts";
import { PAGE } from "../schemas/page.ts";

const MOMENT = "ISO 8601, extended or basic; UTC without an offset; the + of an offset may be sent as it is";

export const ListQuery = closed({
  ...PAGE,
  status: Type.Optional(literals(PHASES, { description: "Only environments in this state." })),
  search: Type.Optional(
    Type.String({
      maxLength: 253,
      description: "Part of the name, literally; upper and lower case are the same.",
      examples: ["shop"],
    }),
  ),
  created_after: Type.Optional(
    Type.String({ format: "instant", maxLength: 64, description: `Created at this moment or later (${MOMENT}).` }),
  ),
  created_before: Type.Optional(
    Type.String({ format: "instant", maxLength: 64, description: `Created before this moment (${MOMENT}).` }),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

/** Query of the list in version 2. */
export const ListReportQuery = closed({
  ...ListQuery.properties,
  sleep: Type.Optional(
    literals(SLEEP_STATES, {
      description:
        "Only environments in this state of sleep. asleep: by a schedule, by idleness, or because a person suspended it.",
    }),
  ),
});
export type ListReportQuery = Static<typeof ListReportQuery>;

/** Query of the list; it never matches an invisible environment, so no total counts it. */
export function environmentQuery(
  { status, search, sleep, created_after, created_before }: ListReportQuery,
  caller: Caller,
): EnvironmentQuery {
  return {
    isVisible: visibleTo(caller),
    ...(status === undefined ? {} : { phase: status }),
    ...(sleep === undefined ? {} : { sleep }),
    ...(search === undefined ? {} : { search: search.toLowerCase() }),
    ...(created_after === undefined ? {} : { createdFromMs: instantMs(created_after) }),
    ...(created_before === undefined ? {} : { createdBeforeMs: instantMs(created_before) }),
  };
}

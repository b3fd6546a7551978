import type { Static } from "typebox";
import type { ErrorCode } from "../../crds/errors.ts";
import type { Problem } from "../schemas/fields.ts";

/** The body of every error. */
export type ProblemBody = Static<typeof Problem>;

/** An error in the contract's words; `code` is left out where the contract names none. */
export function toProblem(problem: {
  readonly status: number;
  readonly detail: string;
  readonly code?: ErrorCode | undefined;
  readonly now: Date;
}): ProblemBody {
  return {
    detail: problem.detail,
    status_code: problem.status,
    ...(problem.code === undefined ? {} : { error_code: problem.code }),
    timestamp: problem.now.toISOString(),
  };
}

import type { Problem } from "./api.gen.ts";

/** A refusal of the platform with the platform's sentence, or an answer that is not a platform's. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  readonly status: number;
  /** Code of the platform, such as `ENV_NAME_EXISTS`, if there is one. */
  readonly code: Problem["error_code"];
  /** Violations such as `{ field: "ttl", message: "must be an integer" }`; the message has all of them, too. */
  readonly violations: NonNullable<Problem["violations"]>;
  /** Id of the request in the platform's log. */
  readonly requestId: string | undefined;
  /** Time before the next request that the platform wants. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, problem: Problem) {
    super(problem.detail);
    this.status = response.status;
    this.code = problem.error_code;
    this.violations = problem.violations ?? [];
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterSeconds = secondsOf(response.headers.get("retry-after"));
  }
}

/** JSON of a response. @throws PlatformError for an answer that is not a platform's, such as a page */
export async function jsonOf(response: Response): Promise<object> {
  const value = parsed(await response.text());
  if (value === undefined) throw new PlatformError(response, foreign(response, ", but not as a platform does"));
  return value;
}

/** Refusal in a response, also a proxy's. */
export async function errorOf(response: Response): Promise<PlatformError> {
  const value = parsed(await response.text());
  const isProblem = value !== undefined && "detail" in value && typeof value.detail === "string";
  return new PlatformError(response, isProblem ? (value as Problem) : foreign(response));
}

const foreign = ({ url, status, statusText }: Response, more = ""): Problem => ({
  detail: `${`${new URL(url || "http://platform").host} answered ${status} ${statusText}`.trim()}${more}`,
  status_code: status,
  timestamp: new Date().toISOString(),
});

/** Object of JSON; `undefined` for any other text. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** https://www.rfc-editor.org/rfc/rfc9110#name-retry-after: seconds, or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

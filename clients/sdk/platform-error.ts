import type { Problem } from "./api.gen.ts";

/** A refusal of the platform; its message is the platform's sentence. Also an answer of something else than a platform. */
export class PlatformError extends Error {
  override readonly name = "PlatformError";
  /** The HTTP status. */
  readonly status: number;
  /** Such as `ENV_NAME_EXISTS`, where the platform has a code for it. */
  readonly code: Problem["error_code"];
  /** What is wrong where, such as `{ field: "ttl", message: "must be an integer" }`; the message says all of it, too. */
  readonly violations: NonNullable<Problem["violations"]>;
  /** What the platform's log calls the request. */
  readonly requestId: string | undefined;
  /** For how long the platform wants not to be asked again. */
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

/** The JSON that a response holds. @throws PlatformError when a platform would not answer so, such as with a page */
export async function jsonOf(response: Response): Promise<object> {
  const value = parsed(await response.text());
  if (value === undefined) throw new PlatformError(response, foreign(response, ", but not as a platform does"));
  return value;
}

/** The refusal that a response holds; also where a proxy in between answered something else than the platform does. */
export async function errorOf(response: Response): Promise<PlatformError> {
  const value = parsed(await response.text());
  const isProblem = value !== undefined && "detail" in value && typeof value.detail === "string";
  return new PlatformError(response, isProblem ? (value as Problem) : foreign(response));
}

/** What is said of an answer that is not the platform's. */
const foreign = ({ url, status, statusText }: Response, more = ""): Problem => ({
  detail: `${`${new URL(url || "http://platform").host} answered ${status} ${statusText}`.trim()}${more}`,
  status_code: status,
  timestamp: new Date().toISOString(),
});

/** An object of JSON; `undefined` for any other text. */
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

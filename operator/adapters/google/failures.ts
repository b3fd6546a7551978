import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";

/** gRPC status codes with a meaning here. */
export const DEADLINE_EXCEEDED = 4;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

/** A failed call, with its code. */
export class CallFailed extends SecretManagerUnavailable {
  readonly code: number | undefined;

  // No `cause` either: a server's message, and the client's additions, may quote sent values.
  constructor(what: string, project: string, error: unknown) {
    const code = codeOf(error);
    const meaning = meaningOf(code, project);
    // Every caller sees an outage: its message must name no object.
    const isAway = code === DEADLINE_EXCEEDED || code === UNAVAILABLE;
    super(isAway ? `Google Secret Manager: ${meaning}` : `Google Secret Manager can't ${what}: ${meaning}`);
    this.code = code;
  }
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "number" ? code : undefined;
}

/** Meaning of a gRPC status code (https://grpc.io/docs/guides/status-codes/). */
function meaningOf(code: number | undefined, project: string): string {
  switch (code) {
    case undefined:
      return "the call could not be made; are there Google credentials for the platform?";
    case 3:
    case FAILED_PRECONDITION:
      return `it is refused in project '${project}' (code ${code}): a disabled or destroyed version, or an organisation policy`;
    case DEADLINE_EXCEEDED:
      return "no answer in time";
    case 7:
      return `permission denied: the platform's identity lacks rights in project '${project}', or there is no such project`;
    case 8:
      return `the quota of project '${project}' is used up`;
    case UNAVAILABLE:
      return "it can't be reached";
    case 16:
      return "the platform's credentials are not accepted";
    default:
      return `it failed with code ${code}`;
  }
}

/** True for a call that failed with this code. */
export const hasCode = (code: number) => (error: unknown) => error instanceof CallFailed && error.code === code;

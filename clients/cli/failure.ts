import { PlatformError } from "../sdk/index.ts";

/** Exit codes, for scripts. */
export const EXIT = {
  done: 0,
  /** The platform refused, or could not be reached. */
  refused: 1,
  misuse: 2,
  environmentFailed: 3,
  notAllowed: 4,
  notFound: 5,
  /** A wait timed out; the platform continues. As timeout(1). */
  notYet: 124,
  /** Interrupted by SIGINT. */
  interrupted: 130,
} as const;

/** Ends the command with a sentence on stderr and an exit code. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Failure for a wrong command line that its parser accepts. */
export const misuse = (message: string) => new Failure(EXIT.misuse, message);

/** Exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  if (!(error instanceof PlatformError)) return EXIT.refused;
  if (error.status === 401 || error.status === 403) return EXIT.notAllowed;
  return error.status === 404 ? EXIT.notFound : EXIT.refused;
}

/** Text of the error for stderr. */
export function sentenceOf(error: unknown): string {
  if (error instanceof PlatformError) return refusal(error);
  if (!(error instanceof Error)) return String(error);
  const cause = error instanceof TypeError ? causeOf(error) : "";
  return cause === "" ? error.message : `the platform can't be reached: ${cause}`;
}

function refusal({ status, message, requestId }: PlatformError): string {
  const login = status === 401 ? "; eenv login, or EENV_TOKEN, says who you are" : "";
  const request = status >= 500 && requestId !== undefined ? ` (request ${requestId})` : "";
  return `${message}${login}${request}`;
}

/** Cause of a failed `fetch`, whose own message says nothing. */
export function causeOf({ cause }: Error): string {
  if (cause instanceof AggregateError) return cause.errors.map((one: Error) => one.message).join(", ");
  return cause instanceof Error ? cause.message : "";
}

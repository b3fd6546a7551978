import { PlatformError } from "../../sdk/platform-error.ts";

/** A refused field of a request. */
export type Violation = PlatformError["violations"][number];

/** Text of a failure, if possible the platform's. */
export function sentenceOf(error: unknown): string {
  if (error instanceof PlatformError) return error.message;
  // Error of fetch without an answer.
  if (error instanceof TypeError) return "The platform does not answer. What you entered is still here; try again.";
  return error instanceof Error ? error.message : String(error);
}

/** Id of the request, for the platform's team. */
export function requestIdOf(error: unknown): string | undefined {
  return error instanceof PlatformError ? error.requestId : undefined;
}

/** Violations of a refusal. */
export function violationsOf(error: unknown): readonly Violation[] {
  return error instanceof PlatformError ? error.violations : [];
}

/** Sentence about a field of a form and its parts. */
export function violationAt(violations: readonly Violation[], field: string): string | undefined {
  const own = violations.filter((one) => one.field === field || one.field.startsWith(`${field}.`));
  if (own.length === 0) return undefined;
  // The platform's words follow the field's name.
  return own.map((one) => `${one.field === field ? capital(one.message) : `${one.field} ${one.message}`}.`).join(" ");
}

const capital = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

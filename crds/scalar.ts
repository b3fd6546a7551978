/** What a chart's value can be overridden with. */
export type Scalar = string | number | boolean | null;

/** The scalar that is written as JSON; `undefined` for what is none, or would be another one when it arrives. */
export function scalarOf(json: string): Scalar | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  // The API server knows no negative zero, which would be a difference for ever.
  if (typeof parsed === "number") return isExact(parsed) ? parsed + 0 : undefined;
  // Half a surrogate pair is no text in JSON's own encoding: it would be stored as another one.
  if (typeof parsed === "string") return parsed.isWellFormed() ? parsed : undefined;
  return parsed === null || typeof parsed === "boolean" ? parsed : undefined;
}

const isExact = (number: number) =>
  Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));

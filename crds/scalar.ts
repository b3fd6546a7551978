/** A value that an override of a chart value may have. */
export type Scalar = string | number | boolean | null;

/** Scalar in a JSON text; `undefined` for another value, or one that would change on its way. */
export function scalarOf(json: string): Scalar | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  // The API server has no negative zero, so the stored object would always differ.
  if (typeof parsed === "number") return isExact(parsed) ? parsed + 0 : undefined;
  // Half a surrogate pair is not valid in UTF-8: another text would be stored.
  if (typeof parsed === "string") return parsed.isWellFormed() ? parsed : undefined;
  return parsed === null || typeof parsed === "boolean" ? parsed : undefined;
}

const isExact = (number: number) =>
  Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));

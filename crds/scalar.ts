/** What a chart's value can be overridden with. */
export type Scalar = string | number | boolean | null;

/** The scalar that is written as JSON; `undefined` for what is none, or would lose digits on its way. */
export function scalarOf(json: string): Scalar | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof parsed === "number") return isExact(parsed) ? parsed : undefined;
  return parsed === null || typeof parsed === "string" || typeof parsed === "boolean" ? parsed : undefined;
}

const isExact = (number: number) =>
  Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));

/** Deepest nesting that is read of a request or webhook: later code recurses. */
export const JSON_MAX_DEPTH = 32;

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object; a key that is `undefined` is absent. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for an object of parsed JSON, which is neither a list nor null. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object; a key that is `undefined` is absent. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

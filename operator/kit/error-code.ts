/** A failure's code, such as ECONNREFUSED, else its name; messages may quote an address. */
export function errorCode(error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: string };
  return typeof code === "string" ? code : (name ?? "unknown error");
}

import { RE2JS } from "re2js";

/** More than the patterns of a platform's Repositories. */
const MOST_COMPILED = 500;

const compiled = new Map<string, RE2JS | undefined>();

/**
 * Whether an RE2 expression matches the whole text, in time linear to its length; `undefined` when it is not one. The API
 * server refuses such an expression, but its library may know more than ours.
 */
export function matchesWhole(pattern: string, text: string): boolean | undefined {
  return compile(pattern)?.testExact(text);
}

/** Those that were used last are kept. */
function compile(pattern: string): RE2JS | undefined {
  const expression = compiled.has(pattern) ? compiled.get(pattern) : parse(pattern);
  compiled.delete(pattern);
  compiled.set(pattern, expression);
  for (const oldest of compiled.size > MOST_COMPILED ? compiled.keys().take(1) : []) compiled.delete(oldest);
  return expression;
}

function parse(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

import { RE2JS } from "re2js";

/** More than a platform's Repositories have. */
const MOST_COMPILED = 500;

const compiled = new Map<string, RE2JS | undefined>();

/**
 * True when an RE2 expression matches the whole text, in linear time; `undefined` when it is none. The API server
 * refuses such an expression, but its library may accept more than ours.
 */
export function matchesWhole(pattern: string, text: string): boolean | undefined {
  return compile(pattern)?.testExact(text);
}

/** Keeps the most recently used ones. */
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

/**
 * True when two JSON values are equal; an undefined field counts as absent, as in its JSON text.
 *
 * For plain data, compared by the thousand. `isDeepStrictEqual` also compares prototypes and symbols, at several times
 * the cost.
 */
export function equalJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) || Array.isArray(other)) return areEqualLists(one, other);
  return areEqualFields(one as Fields, other as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function areEqualFields(one: Fields, other: Fields): boolean {
  const names = Object.keys(one);
  const others = Object.keys(other);
  // The API server mostly answers in the order of the request.
  const isSameOrder = names.length === others.length && names.every((name, at) => name === others[at]);
  if (isSameOrder) return names.every((name) => equalJson(one[name], other[name]));
  return areEqualInAnyOrder(one, other, others);
}

function areEqualInAnyOrder(one: Fields, other: Fields, others: readonly string[]): boolean {
  let left = others.length;
  for (const name of others) if (other[name] === undefined) left -= 1;
  for (const name of Object.keys(one)) {
    if (one[name] === undefined) continue;
    if (!Object.hasOwn(other, name) || !equalJson(one[name], other[name])) return false;
    left -= 1;
  }
  return left === 0;
}

function areEqualLists(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (!equalJson(one[at], other[at])) return false;
  return true;
}

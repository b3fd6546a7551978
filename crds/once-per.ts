/**
 * Memoizes a function by object: the first result for an object holds, so neither the object nor the result may change,
 * and further arguments must be the same for the same object.
 */
export function oncePer<K extends object, V, More extends readonly unknown[]>(
  compute: (key: K, ...more: More) => V,
): (key: K, ...more: More) => V {
  const known = new WeakMap<K, V>();
  return (key, ...more) => {
    const answer = known.get(key) ?? compute(key, ...more);
    if (!known.has(key)) known.set(key, answer);
    return answer;
  };
}

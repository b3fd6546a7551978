/** A function that computes its answer once for each object that it is asked with; neither may be changed afterwards. */
export function oncePer<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const answer = known.get(key) ?? compute(key);
    if (!known.has(key)) known.set(key, answer);
    return answer;
  };
}

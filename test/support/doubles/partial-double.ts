/** A double of which a test needs only these parts; the use of another one is an error. */
export function partialDouble<Port extends object>(parts: Partial<NoInfer<Port>>): Port {
  const get = (_parts: object, name: string | symbol) => {
    if (typeof name === "string" && !(name in parts)) throw new TypeError(`the test's double has no '${name}'`);
    return parts[name as keyof Port];
  };
  return new Proxy(parts, { get }) as Port;
}

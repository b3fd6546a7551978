/** Something that can be started once the named others are. */
export interface Startable {
  readonly name: string;
  readonly after: readonly string[];
}

/**
 * Starts every component as soon as all the components it comes after are ready; independent ones overlap.
 *
 * The first failure is thrown, after every component that was already starting has come to its end; nothing that was
 * still waiting is started then. Components that name an unknown component or wait for each other fail before anything starts.
 */
export async function startInOrder<T extends Startable>(
  components: readonly T[],
  start: (component: T) => Promise<void>,
): Promise<void> {
  assertOrder(components);
  const ready = new Map<string, Promise<void>>();
  for (const component of inOrder(components)) {
    const before = component.after.map((name) => ready.get(name));
    ready.set(
      component.name,
      Promise.all(before).then(() => start(component)),
    );
  }
  const results = await Promise.allSettled(ready.values());
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** The components, each behind those it comes after. */
export function inOrder<T extends Startable>(components: readonly T[]): T[] {
  const sorted: T[] = [];
  let rest = [...components];
  while (rest.length > 0) {
    const next = rest.filter(({ after }) => after.every((name) => sorted.some((component) => component.name === name)));
    if (next.length === 0)
      throw new Error(`these components wait for each other: ${rest.map(({ name }) => name).join(", ")}`);
    sorted.push(...next);
    rest = rest.filter((component) => !next.includes(component));
  }
  return sorted;
}

function assertOrder(components: readonly Startable[]): void {
  const names = new Set(components.map(({ name }) => name));
  const unknown = components.flatMap(({ after }) => after).find((name) => !names.has(name));
  if (unknown) throw new Error(`a component waits for ${unknown}, which is none`);
}

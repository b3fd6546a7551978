/** A component with its predecessors. */
export interface Startable {
  readonly name: string;
  /** Names of components that must be ready before this one starts. Unordered ones start at the same time. */
  readonly after: readonly string[];
}

/**
 * Starts every component as soon as its predecessors are ready; independent ones overlap.
 *
 * Throws the first failure after every started component has finished; waiting ones are not started. Unknown names and
 * cycles fail before anything starts. `ready` names components that run already.
 */
export async function startInOrder<T extends Startable>(
  components: readonly T[],
  start: (component: T) => Promise<void>,
  ready: readonly string[] = [],
): Promise<void> {
  assertOrder(components, ready);
  const starts = new Map<string, Promise<void>>();
  for (const component of inOrder(components, ready)) {
    const before = component.after.map((name) => starts.get(name));
    starts.set(
      component.name,
      Promise.all(before).then(() => start(component)),
    );
  }
  const results = await Promise.allSettled(starts.values());
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** Components, each behind its predecessors; those named in `ready` are left out. */
export function inOrder<T extends Startable>(components: readonly T[], ready: readonly string[] = []): T[] {
  const sorted: T[] = [];
  let rest = [...components];
  while (rest.length > 0) {
    const before = new Set([...ready, ...sorted.map(({ name }) => name)]);
    const next = rest.filter(({ after }) => after.every((name) => before.has(name)));
    if (next.length === 0)
      throw new Error(`these components wait for each other: ${rest.map(({ name }) => name).join(", ")}`);
    sorted.push(...next);
    rest = rest.filter((component) => !next.includes(component));
  }
  return sorted;
}

function assertOrder(components: readonly Startable[], ready: readonly string[]): void {
  const names = new Set([...components.map(({ name }) => name), ...ready]);
  const unknown = components.flatMap(({ after }) => after).find((name) => !names.has(name));
  if (unknown) throw new Error(`a component waits for ${unknown}, which is none`);
}

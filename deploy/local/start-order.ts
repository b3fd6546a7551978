/** Something that can be started once the named others are. */
export interface Startable {
  readonly name: string;
  readonly after: readonly string[];
}

/**
 * Starts every part as soon as all the parts it comes after are ready; independent ones overlap.
 *
 * The first failure is thrown, after every part that was already starting has come to its end; nothing that was
 * still waiting is started then. Parts that name an unknown part or wait for each other fail before anything starts.
 */
export async function startInOrder<T extends Startable>(
  parts: readonly T[],
  start: (part: T) => Promise<void>,
): Promise<void> {
  assertOrder(parts);
  const ready = new Map<string, Promise<void>>();
  for (const part of inOrder(parts)) {
    const before = part.after.map((name) => ready.get(name));
    ready.set(
      part.name,
      Promise.all(before).then(() => start(part)),
    );
  }
  const results = await Promise.allSettled(ready.values());
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

/** The parts, each behind those it comes after. */
export function inOrder<T extends Startable>(parts: readonly T[]): T[] {
  const sorted: T[] = [];
  let rest = [...parts];
  while (rest.length > 0) {
    const next = rest.filter(({ after }) => after.every((name) => sorted.some((part) => part.name === name)));
    if (next.length === 0)
      throw new Error(`these parts wait for each other: ${rest.map(({ name }) => name).join(", ")}`);
    sorted.push(...next);
    rest = rest.filter((part) => !next.includes(part));
  }
  return sorted;
}

function assertOrder(parts: readonly Startable[]): void {
  const names = new Set(parts.map(({ name }) => name));
  const unknown = parts.flatMap(({ after }) => after).find((name) => !names.has(name));
  if (unknown) throw new Error(`a part waits for ${unknown}, which is none`);
}

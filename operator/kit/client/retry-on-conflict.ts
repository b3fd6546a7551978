import { isAlreadyExists, isConflict } from "./errors.ts";

const ATTEMPTS = 5;

/**
 * Repeats a read-and-write after a conflict with another writer; `attempt` must read afresh from the second round on.
 * Throws the conflict after five rounds.
 */
export async function retryOnConflict<T>(attempt: (round: number) => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await attempt(round);
    } catch (error) {
      const lost = isConflict(error) || isAlreadyExists(error);
      if (!lost || round === ATTEMPTS) throw error;
    }
  }
}

import { isAlreadyExists, isConflict } from "./errors.ts";

const ATTEMPTS = 5;

/**
 * Runs a read-and-write again when another writer came between the two; `attempt` must read afresh from the second on.
 * After five lost rounds the conflict travels up.
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

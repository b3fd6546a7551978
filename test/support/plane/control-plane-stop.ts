import { withdrawnPool } from "./control-plane.ts";

/** Jest's globalTeardown: ends the pool of this process. */
export default async function stop(): Promise<void> {
  await withdrawnPool()?.stop();
}

import { withdrawnPool } from "./control-plane.ts";

/** Jest's globalTeardown: ends the control planes that this process has started. */
export default async function stop(): Promise<void> {
  await withdrawnPool()?.stop();
}

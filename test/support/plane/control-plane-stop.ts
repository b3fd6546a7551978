import { publishedPool } from "./control-plane.ts";

/** Jest's globalTeardown: ends the control planes of the run. */
export default async function stop(): Promise<void> {
  await publishedPool()?.stop();
}

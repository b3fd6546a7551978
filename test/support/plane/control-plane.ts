import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import type { PlanePool, PlaneQuestion } from "./plane-pool.ts";
import type { TestPlane } from "./test-plane.ts";

/** The control plane of this worker. A test may kill and restart its programs; the run stops it. */
export type LeasedPlane = Omit<TestPlane, "stop">;

const variable = "TEST_PLANE_POOL";
const slot = Symbol.for("ephemeral-environments.test.plane-pool");

/**
 * Leases this worker's real API server (with Argo CD's kinds, the platform chart, and the controllers of namespaces, garbage
 * collection and quotas). Each lease resets it: call this once in a test file, or where an empty one is needed. No cleanup
 * is required.
 *
 * Fails outside the Jest projects whose globalSetup starts the pool.
 */
export async function controlPlane(): Promise<LeasedPlane> {
  const worker = process.env.JEST_WORKER_ID ?? "none of Jest's";
  const plane = await ask<LeasedPlane>({ ask: "lease", worker });
  return {
    ...plane,
    async kill(program, { graceMs } = {}) {
      await ask({ ask: "kill", worker, program, graceMs });
    },
    async restart(program) {
      await ask({ ask: "restart", worker, program });
    },
  };
}

/** True under a Jest project with control planes. */
export function hasPlanePool(): boolean {
  return process.env[variable] !== undefined;
}

async function ask<R>(question: PlaneQuestion): Promise<R> {
  const socketPath = process.env[variable];
  if (!socketPath) throw new Error("no control plane was started: run this suite in a project that starts them");
  // No connection is kept: the next file would reuse a closed one.
  const requested = request({ socketPath, agent: false, method: "POST", signal: AbortSignal.timeout(300_000) });
  requested.end(JSON.stringify(question));
  const [reply] = (await once(requested, "response")) as [IncomingMessage];
  const answer = (await json(reply)) as R & { error?: string };
  if (reply.statusCode !== 200) throw new Error(`the control plane could not be had: ${answer.error}`);
  return answer;
}

/** Publishes the pool to the workers (by environment) and to the teardown (in this process, reloaded). */
export function publishPool(pool: PlanePool): void {
  process.env[variable] = pool.socket;
  (globalThis as Record<symbol, unknown>)[slot] = pool;
}

/** Takes back the published pool, for the teardown. */
export function withdrawnPool(): PlanePool | undefined {
  const published = globalThis as Record<symbol, unknown>;
  const pool = published[slot] as PlanePool | undefined;
  if (pool === undefined) return undefined;
  delete published[slot];
  delete process.env[variable];
  return pool;
}

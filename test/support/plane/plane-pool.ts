import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { type EtcdSnapshot, snapshotOf } from "./etcd.ts";
import type { ControlPlaneProgram } from "./own-control-plane.ts";
import { clearAbandoned, markOwned, parentForSockets } from "./temporary-folders.ts";
import { startTestPlane, type TestPlane } from "./test-plane.ts";

/** A worker's request for its control plane. */
export type PlaneQuestion =
  | { readonly ask: "lease"; readonly worker: string }
  | { readonly ask: "restart"; readonly worker: string; readonly program: ControlPlaneProgram }
  | {
      readonly ask: "kill";
      readonly worker: string;
      readonly program: ControlPlaneProgram;
      readonly graceMs?: number | undefined;
    };

export interface PlanePool {
  /** The Unix socket for workers' requests. */
  readonly socket: string;
  /** Starts the control plane of a worker before it is leased. */
  prepare(worker: string): Promise<void>;
  stop(): Promise<void>;
}

const FOLDER_PREFIX = "ephemeral-planes-";

/**
 * Gives each Jest worker its own control plane, which outlives its test files. It starts at the worker's first lease; every
 * lease restarts killed programs and restores all objects.
 */
export async function startPlanePool(): Promise<PlanePool> {
  const parent = parentForSockets(FOLDER_PREFIX);
  await clearAbandoned(FOLDER_PREFIX, parent);
  const folder = await mkdtemp(join(parent, FOLDER_PREFIX));
  await markOwned(folder);
  const planes = new Map<string, Promise<PooledPlane>>();
  const planeOf = (worker: string) => {
    const plane = planes.get(worker) ?? startPooledPlane();
    planes.set(worker, plane);
    return plane;
  };
  const server = createServer((request, reply) => void answer(request, reply, planeOf));
  const socket = join(folder, "pool.sock");
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    async prepare(worker) {
      await planeOf(worker);
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      const started = await Promise.allSettled(planes.values());
      await Promise.all(started.map((one) => (one.status === "fulfilled" ? one.value.plane.stop() : undefined)));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface PooledPlane {
  readonly plane: TestPlane;
  readonly snapshot: EtcdSnapshot;
  readonly killed: Set<ControlPlaneProgram>;
}

async function startPooledPlane(): Promise<PooledPlane> {
  const plane = await startTestPlane({ etcdGateway: true });
  return { plane, snapshot: await snapshotOf(plane.etcdSocket), killed: new Set() };
}

async function answer(
  request: IncomingMessage,
  reply: ServerResponse,
  planeOf: (worker: string) => Promise<PooledPlane>,
): Promise<void> {
  try {
    const question = (await json(request)) as PlaneQuestion;
    reply.end(JSON.stringify(await serve(await planeOf(question.worker), question)));
  } catch (error) {
    reply.writeHead(500).end(JSON.stringify({ error: (error as Error).stack }));
  }
}

async function serve({ plane, snapshot, killed }: PooledPlane, question: PlaneQuestion): Promise<object> {
  if (question.ask === "lease") {
    for (const program of Array.from(killed)) await restart(program);
    await snapshot.restore();
    return plane;
  }
  if (question.ask === "restart") {
    await restart(question.program);
    return {};
  }
  killed.add(question.program);
  await plane.kill(question.program, question.graceMs === undefined ? {} : { graceMs: question.graceMs });
  return {};

  async function restart(program: ControlPlaneProgram): Promise<void> {
    await plane.restart(program);
    killed.delete(program);
  }
}

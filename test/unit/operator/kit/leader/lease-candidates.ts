import { afterEach, beforeEach, expect } from "@jest/globals";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { LeaderElector, type Lease, type TermEnd } from "../../../../../operator/kit/leader/leader-election.ts";
import {
  type FakeApiServer,
  json,
  type SeenRequest,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

export const ref = { name: "the-lease", namespace: "ns" };

/** A lease in the API server: with versions, conflicts and outages. */
class LeaseStore {
  lease: Lease | undefined;
  isDown = false;
  /** The number of next writes with a conflict. */
  conflicts = 0;
  writes = 0;
  /** Delays the answer of each stored write. */
  onWrite: () => Promise<void> = async () => undefined;
  #version = 0;

  attach(server: FakeApiServer): void {
    server.on(
      () => true,
      async (request, response) => {
        const before = this.writes;
        const answer = this.#answer(request);
        if (this.writes > before) await this.onWrite();
        return answer(request, response);
      },
    );
  }

  /** A write of another process. */
  put(spec: NonNullable<Lease["spec"]>): void {
    this.#version += 1;
    const metadata = {
      ...ref,
      uid: "u",
      resourceVersion: String(this.#version),
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    this.lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
  }

  #answer(request: SeenRequest) {
    if (this.isDown) return status(500, "InternalError");
    if (request.method === "GET") return this.lease === undefined ? status(404, "NotFound") : json(this.lease);
    const sent = JSON.parse(request.body) as Lease;
    if (this.conflicts > 0) {
      this.conflicts -= 1;
      return status(409, "Conflict");
    }
    if (request.method === "POST" && this.lease !== undefined) return status(409, "AlreadyExists");
    if (request.method === "PUT" && sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) {
      return status(409, "Conflict");
    }
    this.writes += 1;
    this.put(sent.spec ?? {});
    return json(this.lease);
  }
}

export interface Candidate {
  readonly elector: LeaderElector;
  readonly ended: Promise<string>;
  readonly hasEnded: () => boolean;
  readonly stop: () => void;
  readonly isWorking: () => boolean;
  readonly termEnd: () => TermEnd | undefined;
}

/** Candidates for one lease on a fake API server, all on one clock; new for each test. */
export function leaseCandidates() {
  let server: FakeApiServer;
  let store: LeaseStore;
  let client: KubeClient;
  let clock: TestClock;
  let candidates: Candidate[];
  let callsInFlight: number;

  beforeEach(async () => {
    server = await startFakeApiServer();
    store = new LeaseStore();
    store.attach(server);
    callsInFlight = 0;
    client = createKubeClient({
      kubeConfig: server.kubeConfig,
      random: () => 0,
      onRequest: async (_request, next) => {
        callsInFlight += 1;
        return await next().finally(() => {
          callsInFlight -= 1;
        });
      },
    });
    clock = new TestClock();
    candidates = [];
  });

  afterEach(async () => {
    for (const { stop, ended } of candidates) {
      stop();
      await ended;
    }
    expect(clock.pending).toEqual([]);
    await client.close();
    await server.close();
  });

  function candidate(identity: string): Candidate {
    const elector = new LeaderElector({ client, lease: ref, identity, log: silentLog, clock, random: () => 0 });
    const stopping = new AbortController();
    let isWorking = false;
    let hasEnded = false;
    let termEnd: TermEnd | undefined;
    const onStartedLeading = async (signal: AbortSignal) => {
      isWorking = true;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      termEnd = signal.reason;
      isWorking = false;
    };
    const ended = elector.run({ onStartedLeading }, stopping.signal).finally(() => {
      hasEnded = true;
    });
    const state = { isWorking: () => isWorking, hasEnded: () => hasEnded, termEnd: () => termEnd };
    const made = { elector, ended, stop: () => stopping.abort(), ...state };
    candidates.push(made);
    return made;
  }

  /** Advances time in steps short enough for the electors to act in between. */
  async function pass(totalMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < totalMs; passedMs += 500) {
      clock.advance(500);
      await settled();
    }
  }

  /** The work of a timer is over: no call is pending, and none begins. */
  async function settled(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 3; quietTurns = callsInFlight === 0 ? quietTurns + 1 : 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    get store() {
      return store;
    },
    get client() {
      return client;
    },
    get clock() {
      return clock;
    },
    candidate,
    pass,
  };
}

import { testSettings } from "../fixtures/test-settings.ts";
import { until } from "../fixtures/until.ts";
import { startHttpsServer } from "../http/https-server.ts";
import { AUDIENCE, startTokenIssuer } from "../http/token-issuer.ts";
import { type PlatformProcess, platformProcess } from "../plane/platform-process.ts";
import { COMMIT, createWorld, type World } from "./environment-world.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The fields that tests read. */
  readonly body: {
    readonly status?: string;
    readonly detail?: string;
    readonly checks?: { readonly datastore: string };
    readonly environment?: { readonly id: string };
    readonly services?: { readonly cache: { readonly age_seconds?: number } };
  };
}

/** A request to the REST interface; default: GET, or POST with a body. */
export interface Sent {
  readonly method?: string;
  readonly body?: object;
  readonly key?: string;
  /** Default: 30 s. */
  readonly signal?: AbortSignal;
}

/** Two processes of the platform that elect a leader, on this worker's control plane. */
export interface ReplicaPair {
  readonly world: World;
  readonly replicas: readonly [PlatformProcess, PlatformProcess];
  /** Calls a replica as a maintainer. @param path without `/api` */
  call(replica: PlatformProcess, path: string, sent?: Sent): Promise<Reply>;
  /** Creates an environment, and waits until both replicas see it ready. Answers its id. */
  haveReady(name: string): Promise<string>;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

export const creation = (environment_name: string) => ({
  environment_name,
  backend_repo: "test-backend",
  backend_branch: "main",
  backend_commit: COMMIT,
});

/** Starts both replicas and waits until they serve. */
export async function startReplicaPair(): Promise<ReplicaPair> {
  const world = await createWorld();
  const ingress = await startHttpsServer(["DNS:*.env.localhost"], (_request, reply) => reply.end("ok"));
  const issuer = await startTokenIssuer();
  const replica = () =>
    platformProcess(world.identity, {
      ...testSettings,
      ingressAddress: ingress.address,
      ingressCaFile: ingress.caFile,
      leaderElection: true,
      api: {
        issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { maintainer: ["maintainers"] } }],
        limits: { authenticatedPerMinute: 1e5, unauthenticatedPerMinute: 1e5 },
      },
    });
  const replicas = [await replica(), await replica()] as const;
  await Promise.all(replicas.map((one) => one.start()));
  const call = caller(await issuer.sign({ sub: "mai", email: "mai@example.test", groups: ["maintainers"] }));
  return {
    world,
    replicas,
    call,
    async haveReady(name) {
      const { id = "" } = (await call(replicas[0], "/environments", { body: creation(name) })).body.environment ?? {};
      await world.expectPhase(name, "ready");
      const isSeen = async () => {
        const seen = await Promise.all(replicas.map((one) => call(one, `/environments/${name}`)));
        return seen.every(({ body }) => body.status === "ready");
      };
      await until(isSeen, { what: "all replicas seeing it" });
      return id;
    },
    async untilReady() {
      const isReady = (one: PlatformProcess) =>
        call(one, "/ready").then(
          ({ status }) => status === 200,
          () => false,
        );
      const patience = { what: "a ready replica", deadlineMs: 6e4, everyMs: 50 };
      await Promise.all(replicas.map((one) => until(() => isReady(one), patience)));
    },
    async stop() {
      await Promise.all(replicas.map((one) => one.stop()));
      await issuer.stop();
      await ingress.stop();
      await world.stop();
    },
  };
}

function caller(token: string): ReplicaPair["call"] {
  return async (replica, path, { method, body, key, signal } = {}) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(key ? { "idempotency-key": key } : {}),
    };
    const reply = await fetch(`${replica.url}/api${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ?? AbortSignal.timeout(30_000),
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Reply["body"] };
  };
}

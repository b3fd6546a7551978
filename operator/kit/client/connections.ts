import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../time/clock.ts";
import { orAborted } from "../time/deadline.ts";
import { type Credentials, createCredentialSource, type KubeConfigSource, type TlsMaterial } from "./credentials.ts";

/** One HTTP exchange without credentials. */
export interface WireRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query below the server's own base path. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Streams have no limit on silence and their own connections. */
  readonly isStream: boolean;
  /** Called when a connection takes the request, for which it may have waited; one that it refuses with an error is not sent. */
  readonly onStart?: (() => void) | undefined;
}

/** Separate pools: long watches never starve calls. No HTTP/2: undici loses requests on a GOAWAY (issue 5468). */
interface Pools {
  readonly fingerprint: string;
  readonly calls: Agent;
  readonly streams: Agent;
  /** The calls, each after its `onStart`. */
  readonly started: Dispatcher;
}

export type KubeConnections = ReturnType<typeof createKubeConnections>;

/**
 * Authenticated, pooled connections to one API server.
 *
 * @param connections of the pool for calls
 * @throws TypeError when the kubeconfig has no current cluster, or a proxied one
 */
export function createKubeConnections(kubeConfig: KubeConfigSource, connections: number, clock: Clock) {
  const server = serverOf(kubeConfig);
  const basePath = server.pathname.replace(/\/$/, "");
  const source = createCredentialSource(kubeConfig, clock);
  const retired = new Set<Agent>();
  let pools: Pools | undefined;

  function poolsFor({ tls }: Credentials): Pools {
    if (pools?.fingerprint === tls.fingerprint) return pools;
    if (pools !== undefined) for (const agent of [pools.calls, pools.streams]) retire(agent, retired);
    pools = openPools(tls, connections);
    return pools;
  }

  return {
    /** Rejects with undici's own errors. */
    async send(request: WireRequest): Promise<Dispatcher.ResponseData> {
      const credentials = await orAborted(source.current(), request.signal);
      const { started, streams } = poolsFor(credentials);
      const options: Started = {
        origin: server.origin,
        path: basePath + request.path,
        method: request.method,
        headers: { ...request.headers, ...credentials.headers },
        body: request.body ?? null,
        // By default undici opens a new connection after a DELETE with a body; Kubernetes reads the body.
        reset: false,
        signal: request.signal,
        onStart: request.onStart,
      };
      return (request.isStream ? streams : started).request(options);
    },
    /** Call after the server refused the credentials: the next request reads them again. */
    reauthenticate: () => source.expire(),
    async close(): Promise<void> {
      const open = [...retired, ...(pools === undefined ? [] : [pools.calls, pools.streams])];
      await Promise.all(open.map((agent) => agent.destroy()));
    },
  };
}

function serverOf(kubeConfig: KubeConfigSource): URL {
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null) throw new TypeError("the kubeconfig has no current cluster");
  if (cluster.proxyUrl) throw new TypeError("a proxy before the API server is not supported");
  return new URL(cluster.server);
}

function openPools(tls: TlsMaterial, connections: number): Pools {
  const transport = { timeout: 5_000, keepAlive: true, keepAliveInitialDelay: 30_000, ...tls.options };
  // undici passes these to tls.connect; its own type lacks some.
  const connect = transport as NonNullable<Agent.Options["connect"]>;
  const common = { allowH2: false, keepAliveTimeout: 30_000, headersTimeout: 30_000 };
  const calls = new Agent({ ...common, connections, bodyTimeout: 60_000, connect });
  const streams = new Agent({ ...common, bodyTimeout: 0, connect });
  return { fingerprint: tls.fingerprint, calls, streams, started: calls.compose(calledOnStart) };
}

type Started = Dispatcher.RequestOptions & Pick<WireRequest, "onStart">;

/** Calls `onStart` right before the request is written: the pool may have queued it. */
const calledOnStart: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { onStart } = options as Dispatcher.DispatchOptions & Pick<WireRequest, "onStart">;
  if (onStart === undefined) return dispatch(options, handler);
  const begin = handler.onRequestStart?.bind(handler);
  handler.onRequestStart = (controller, context) => {
    onStart();
    begin?.(controller, context);
  };
  return dispatch(options, handler);
};

/** Calls on the old connections may finish; a stream ends by its own deadline at the latest. */
function retire(agent: Agent, retired: Set<Agent>): void {
  retired.add(agent);
  const forget = () => retired.delete(agent);
  agent.close().then(forget, forget);
}

import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import { capConnections, dropUnread, idleConnections } from "./connections.ts";
import { type ProxySettings, trustedProxy } from "./trusted-proxies.ts";
import { answerUnparsed } from "./unparsed.ts";

/** Time limits of the head and of the whole request. */
const PATIENCE = { headMs: 10_000, requestMs: 30_000 } as const;
/** Node's default would tolerate a slow head for 30 s more. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than load balancers keep idle connections, or they would send into closed ones. */
const KEEP_ALIVE_MS = 65_000;

/** Address and dependencies of the server. */
export interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one, which the URL names. */
  readonly port: number;
  readonly clock: Clock;
  /** Log for requests that are refused before the app. */
  readonly log: Log;
  /** Aborted first when stopping, so that readiness ends before connections do: give `createApp` its signal. */
  readonly stopping: AbortController;
  /** Proxies in front, shared by many callers. Default: none. */
  readonly proxies?: ProxySettings;
  /** Time limits of a request's head and whole. */
  readonly patience?: { readonly headMs: number; readonly requestMs: number };
}

/** Time limits of the parts of stopping. */
export interface StopOptions {
  /**
   * Time of serving after readiness has ended, until load balancers notice; each answer ends its connection. Up to
   * three times as long while requests come.
   */
  readonly settleMs?: number;
  /** Time for requests in flight. */
  readonly graceMs?: number;
}

/** A listening server. */
export interface ApiServer {
  readonly url: string;
  /** Ends readiness, waits for requests in flight, and closes; repeated calls wait for the same end. */
  stop(options?: StopOptions): Promise<void>;
}

/** Starts listening; rejects when the address is unavailable. */
export async function startServer(app: RequestListener, options: ServerOptions): Promise<ApiServer> {
  const { headMs, requestMs } = options.patience ?? PATIENCE;
  const server = createServer({
    headersTimeout: headMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, headMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    // `answerUnparsed` refuses it, with a message.
    requireHostHeader: false,
  });
  const isProxy = trustedProxy(options.proxies ?? { trustedProxyHops: 0, trustedProxies: [] });
  capConnections(server, { isShared: (address) => isProxy(address, 0) });
  const idle = idleConnections(server);
  const { requested, settled } = settling(options.clock);
  const serve: RequestListener = (request, response) => {
    requested();
    // A kept connection would bring its next request to a closing server.
    if (options.stopping.signal.aborted) response.setHeader("Connection", "close");
    dropUnread(request, response);
    app(request, response);
  };
  answerUnparsed(server, serve, options);
  await once(server.listen(options.port, options.host), "listening");
  const stop = async ({ settleMs = 0, graceMs = 10_000 }: StopOptions = {}) => {
    options.stopping.abort();
    await settled(settleMs);
    const end = closed(server, graceMs, options.clock);
    idle.closeFromNowOn();
    await end;
  };
  let stopped: Promise<void> | undefined;
  return {
    url: urlOf(server),
    stop: (stopOptions) => {
      stopped ??= stop(stopOptions);
      return stopped;
    },
  };
}

function closed(server: Server, graceMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(graceMs, () => server.closeAllConnections());
    server.close((error) => {
      cancel();
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

const STEPS = 10;
/** Steps without a request after which no load balancer sends any more. */
const SILENT_STEPS = 4;
const MOST_STEPS = 3 * STEPS;

/**
 * Detects when load balancers have noticed that a server stops. A fixed time is a guess: in a busy cluster, Services
 * lead to a pod for seconds, as each request proves.
 */
function settling(clock: Clock) {
  let requests = 0;
  return {
    requested: () => {
      requests += 1;
    },
    /** Resolves after that time and once requests have ceased, at the latest after three times as long. */
    async settled(settleMs: number): Promise<void> {
      if (settleMs === 0) return;
      await new Promise<void>((resolve) => {
        let seen = requests;
        // Steps are counted, not time: each first accepts the requests that came while this process had no processor.
        const next = (step: number, silent: number) => {
          const isOver = step >= MOST_STEPS || (step >= STEPS && silent >= SILENT_STEPS);
          if (isOver) return resolve();
          clock.setTimer(settleMs / STEPS, () => {
            const isSilent = requests === seen;
            seen = requests;
            next(step + 1, isSilent ? silent + 1 : 0);
          });
        };
        next(0, 0);
      });
    },
  };
}

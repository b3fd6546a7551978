import { type Clock, systemClock } from "../time/clock.ts";
import { createKubeConnections } from "./connections.ts";
import type { KubeConfigSource } from "./credentials.ts";
import { createKubeExchange } from "./exchange.ts";
import type { KubeClient } from "./kube-client.ts";
import { kubeLines } from "./lines.ts";
import { kubeReads } from "./reads.ts";
import type { RequestSeam } from "./request.ts";
import { kubeWatch } from "./watch.ts";
import type { WriteGuard } from "./write-guard.ts";
import { kubeWrites } from "./writes.ts";

export interface KubeClientOptions {
  readonly kubeConfig: KubeConfigSource;
  /** Connections of the pool for calls (default 32); watches have their own, unlimited. */
  readonly connections?: number;
  readonly userAgent?: string;
  /** Names this client's fields on the objects it writes (default: the user agent up to its first slash). */
  readonly fieldManager?: string;
  /** The longest a call may take, all attempts included (default 20 s). Watches and their streams are exempt. */
  readonly deadlineMs?: number;
  readonly onRequest?: RequestSeam | undefined;
  /** Without it the client may always work. */
  readonly guard?: WriteGuard | undefined;
  readonly clock?: Clock;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/**
 * A client for the current context of `kubeConfig`. Tokens and certificates are followed as their files change.
 *
 * A plain-http server is accepted only with `skipTLSVerify`, as client-node has it.
 * @throws TypeError when the kubeconfig has no current cluster, or one behind a proxy
 */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { kubeConfig, clock = systemClock, connections: poolSize = 32 } = options;
  const userAgent = options.userAgent ?? "controller-kit";
  const fieldManager = options.fieldManager ?? userAgent.replace(/\/.*$/, "");
  const connections = createKubeConnections({ kubeConfig, connections: poolSize, clock });
  const exchange = createKubeExchange({
    connections,
    userAgent,
    clock,
    deadlineMs: options.deadlineMs ?? 20_000,
    random: options.random ?? Math.random,
    onRequest: options.onRequest,
    guard: options.guard,
  });
  return {
    ...kubeReads(exchange),
    ...kubeWrites(exchange, fieldManager),
    ...kubeWatch(exchange),
    ...kubeLines(exchange),
    close: () => connections.close(),
  };
}

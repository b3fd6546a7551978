import { systemClock } from "../time/clock.ts";
import { createKubeConnections } from "./connections.ts";
import type { KubeConfigSource } from "./credentials.ts";
import { createKubeExchange, type KubeExchangeOptions } from "./exchange.ts";
import type { KubeClient } from "./kube-client.ts";
import { kubeReads } from "./reads.ts";
import { kubeWatch } from "./watch.ts";
import { kubeWrites } from "./writes.ts";

export interface KubeClientOptions extends Partial<Omit<KubeExchangeOptions, "connections">> {
  readonly kubeConfig: KubeConfigSource;
  /** Connections of the pool for calls (default 32); watches have their own pool, unlimited. */
  readonly connections?: number;
}

/**
 * A client for the current context of `kubeConfig`; follows changes of token and certificate files.
 *
 * Accepts a plain-http server only with `skipTLSVerify`, like client-node.
 * @throws TypeError when the kubeconfig has no current cluster, or a proxied one
 */
export function createKubeClient({
  kubeConfig,
  connections: poolSize = 32,
  ...options
}: KubeClientOptions): KubeClient {
  const { userAgent = "controller-kit", clock = systemClock, deadlineMs = 20_000, random = Math.random } = options;
  const connections = createKubeConnections(kubeConfig, poolSize, clock);
  const exchange = createKubeExchange({ ...options, connections, userAgent, clock, deadlineMs, random });
  return {
    ...kubeReads(exchange),
    ...kubeWrites(exchange, userAgent.replace(/\/.*$/, "")),
    ...kubeWatch(exchange),
    close: () => connections.close(),
  };
}

import type { WebhookSource } from "../../crds/webhooks/webhook-delivery.ts";
import type { CacheSet } from "../kit/cache/cache-set.ts";
import type { RequestInterceptor } from "../kit/client/request.ts";
import type { ControllerMetrics } from "../kit/controller/controller.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Outcome } from "./api/webhook-inbox.ts";
import type { Caches } from "./caches.ts";
import type { HostCalls } from "./host-technology.ts";
/** Services whose calls are counted. */
export type Service = "chat" | "ingress-metrics" | "mail" | "opencost" | "repository-host" | "secret-manager";

/** A call of a service's port; `operation` is the method. */
export interface ServiceCall {
  readonly service: Service;
  readonly operation: string;
}

/** Intercepts such calls. Must answer the result of `next`, and throw its error. */
export type ServiceCallInterceptor = (call: ServiceCall, next: () => Promise<unknown>) => Promise<unknown>;

/** An answered or aborted request of the REST interface. */
export interface AnsweredRequest {
  readonly method: string;
  /** Path template of the route, below the version; `undefined` without a route. */
  readonly route: string | undefined;
  /** HTTP status, or 499 when the connection ended first. */
  readonly status: number;
  readonly durationMs: number;
  /** True for a stream, which lasts as long as its reader wants. */
  readonly isStream: boolean;
}

/** Request metrics of the REST interface. */
export interface RequestMetrics {
  begun(): void;
  /** Called once per begun request. */
  ended(request: AnsweredRequest): void;
}

/**
 * Result of a webhook: the inbox's outcome, or the reason for none. `refused`: unknown sender; `no_key`: no readable
 * key; `full`: too many wait.
 */
export type WebhookOutcome = Outcome["state"] | "refused" | "malformed" | "no_key" | "full" | "failed";

/** Sources of the metrics about this process and all environments, read at each scrape. */
export interface Observed {
  readonly caches: Pick<Caches, "environments" | "notifications" | "webhookDeliveries">;
  readonly watches: Pick<CacheSet, "progressAgesMs">;
  readonly hostCalls: HostCalls;
  /** True for the leader, which alone reports the whole cluster. */
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** Metrics of this process, for monitoring systems. */
export interface Metrics {
  readonly controllers: ControllerMetrics;
  readonly requests: RequestMetrics;
  readonly onKubeRequest: RequestInterceptor;
  readonly onServiceCall: ServiceCallInterceptor;
  webhookEnded(source: WebhookSource, outcome: WebhookOutcome): void;
  /** Records an error-free end of recurring work; there are few names. */
  loopSucceeded(loop: string): void;
  /** Begins to read the sources; call once. */
  observe(observed: Observed): void;
  /** All metrics of now, in Prometheus' text format. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

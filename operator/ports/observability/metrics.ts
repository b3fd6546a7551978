import type { Door } from "../../../crds/webhooks/webhook-delivery.ts";
import type { CacheSet } from "../../kit/cache/cache-set.ts";
import type { RequestSeam } from "../../kit/client/request.ts";
import type { ControllerMetrics } from "../../kit/controller/controller-metrics.ts";
import type { Caches } from "../caches.ts";
import type { Clock } from "../clock.ts";
import type { RequestMetrics } from "../facade/request-metrics.ts";
import type { Outcome } from "../facade/webhook-inbox.ts";
import type { HostCalls } from "../webhooks/host-calls.ts";

/** The services whose calls are counted. */
export type Service = "chat" | "mail" | "opencost" | "repository-host" | "secret-manager";

/** A call of a port behind which is a service; `operation` is the method. */
export interface ServiceCall {
  readonly service: Service;
  readonly operation: string;
}

/** Stands around such calls. It must answer what `next` answers, and throw what it throws. */
export type ServiceCallSeam = (call: ServiceCall, next: () => Promise<unknown>) => Promise<unknown>;

/**
 * What became of a webhook: the outcome of the inbox, or why there is none. `refused`: its sender is unknown; `no_key`: no
 * key could be read; `full`: too many wait.
 */
export type WebhookOutcome = Outcome["state"] | "refused" | "malformed" | "no_key" | "full" | "failed";

/** What the figures about this process, and about all environments, are read from at each scrape. */
export interface Observed {
  readonly caches: Pick<Caches, "environments" | "notifications" | "webhookDeliveries">;
  readonly watches: Pick<CacheSet, "progressAgesMs">;
  readonly hostCalls: HostCalls;
  /** Whether this process leads now: figures about the whole cluster come from the leader alone. */
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** Where the process counts what it does, for monitoring systems. */
export interface Metrics {
  readonly controllers: ControllerMetrics;
  readonly requests: RequestMetrics;
  /** Counts the calls to the API server. */
  readonly onKubeRequest: RequestSeam;

  /** Counts a webhook by its end. */
  webhookEnded(door: Door, outcome: WebhookOutcome): void;

  /** Notes that recurring work of this name ended without an error. Of names there are few. */
  loopSucceeded(loop: string): void;

  /** Counts the calls of services, and how long they last. */
  readonly onServiceCall: ServiceCallSeam;

  /** Begins to follow what is observed; once. */
  observe(observed: Observed): void;

  /** All figures of now, in the text format of Prometheus. */
  scrape(): Promise<Scrape>;
}

/** An answer to a monitoring system. */
export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

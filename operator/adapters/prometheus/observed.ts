import { PHASES } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom } from "../../../crds/environment/lifetime.ts";
import { shownPhase } from "../../../crds/environment/phase.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Observed } from "../../ports/observability/metrics.ts";
import { leaderFigures, secondsBetween } from "./leader-figures.ts";
import type { MetricRegistry } from "./registry.ts";

/** Metrics of environments: current counts at each scrape, durations at their final change. */
export function environmentMetrics(registry: MetricRegistry, { caches, isLeading, clock }: Observed): void {
  const { environments } = caches;
  const list = () => environments.list();
  const figures = leaderFigures(registry, { isLeading, clock });
  figures.counts("ephemeral_environments", PHASES, () => list().map(shownPhase));
  figures.longest("ephemeral_environment_deletion_longest_seconds", () =>
    list().map(({ metadata }) => metadata.deletionTimestamp),
  );
  figures.longest("ephemeral_environment_expiry_overdue_seconds", () =>
    list().map((one) => (one.metadata.deletionTimestamp === undefined ? deletableFrom(one) : undefined)),
  );

  const changes = lifeChanges(registry, clock);
  environments.subscribe((_name, current, previous) => {
    // The first appearance in a cache is no change.
    if (!isLeading() || previous === undefined) return;
    if (current?.metadata.uid === previous.metadata.uid) changes.changed(current, previous);
    else changes.gone(previous);
  });
}

function lifeChanges(registry: MetricRegistry, clock: Clock) {
  const creation = registry.histogram("ephemeral_environment_creation_seconds");
  const creationFailures = registry.counter("ephemeral_environment_creation_failures_total");
  const failures = registry.counter("ephemeral_environment_failures_total");
  const deletion = registry.histogram("ephemeral_environment_deletion_seconds");
  const lateness = registry.histogram("ephemeral_environment_expiry_lateness_seconds");
  return {
    changed(current: EphemeralEnvironment, previous: EphemeralEnvironment): void {
      const [{ readyAt, phase } = {}, before] = [current.status, previous.status];
      if (readyAt !== undefined && before?.readyAt === undefined) {
        creation.observe(secondsBetween(current.metadata.creationTimestamp, readyAt));
      }
      if (phase === "failed" && before?.phase !== "failed") countFailure(current);
      const isAsked = previous.metadata.deletionTimestamp === undefined;
      const { deletionTimestamp: deletedAt } = current.metadata;
      if (isAsked && deletedAt !== undefined) observeLateness(current, deletedAt);
    },
    gone({ metadata: { deletionTimestamp } }: EphemeralEnvironment): void {
      if (deletionTimestamp !== undefined) deletion.observe(secondsBetween(deletionTimestamp, clock.now()));
    },
  };

  function countFailure({ status }: EphemeralEnvironment): void {
    failures.inc();
    if (status?.readyAt === undefined) creationFailures.inc();
  }

  /** Skips environments deleted before their time. */
  function observeLateness(environment: EphemeralEnvironment, deletedAt: string): void {
    const due = deletableFrom(environment);
    if (due !== undefined && due <= new Date(deletedAt)) lateness.observe(secondsBetween(due, deletedAt));
  }
}

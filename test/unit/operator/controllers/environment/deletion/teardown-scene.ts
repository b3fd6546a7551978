import type { Settings } from "../../../../../../config/settings.ts";
import { MINUTE_MS } from "../../../../../../crds/durations.ts";
import type { RecordSpec } from "../../../../../../crds/environment/environment-record.ts";
import type { FinalizerRemoval, TeardownStep } from "../../../../../../crds/environment/environment-status.schema.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../../../crds/group.ts";
import { applicationKind } from "../../../../../../operator/adapters/argocd/kinds.ts";
import { type Teardown, tearDown } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import type { Progress } from "../../../../../../operator/controllers/environment/deletion/teardown-steps.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../../../../operator/kit/client/kinds.ts";
import { PullRequestHostFailed } from "../../../../../../operator/ports/webhooks/pull-request-host.ts";
import { applicationOf, memoryRemoval, namespaceOf } from "../../../../../support/doubles/memory/removal.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { CREATED, UID } from "../../../../../support/fixtures/environment/environment-fixture.ts";

/** The environment in deletion. */
export const shop = { name: "shop", uid: UID };
export const HOLD = "example.test/hold";

const record = ({ steps, removals = [] }: Progress, goneAt: Date): RecordSpec => ({
  ...shop,
  reason: "deleted",
  createdAt: CREATED,
  deletedAt: CREATED,
  teardownSeconds: 0,
  goneAt: goneAt.toISOString(),
  phase: "ready",
  forced: steps
    .filter(({ state }) => state === "forced")
    .map(({ name, message = "" }) => ({ step: name, left: message })),
  removals: [...removals],
});

/** The objects of an environment, and reconciles of its deletion, each with the status of the last. */
export async function scene({ deletion = {} }: { deletion?: Partial<Settings["deletion"]> } = {}) {
  const clock = new TestClock();
  const removal = memoryRemoval(clock);
  const { settings } = removal;
  const world = { ...removal, settings: { ...settings, deletion: { ...settings.deletion, ...deletion } } };
  await world.furnish(shop);
  let steps: readonly TeardownStep[] = [];
  let removals: readonly FinalizerRemoval[] = [];
  let force: string | undefined;
  let hostError: Error | undefined;
  const reportDeleted = async () => {
    if (hostError !== undefined) throw hostError;
  };
  return {
    ...world,
    /** An admin annotates the environment. */
    force(step: string) {
      force = step;
    },
    /** Makes the pull request's host unreachable. */
    losesHost(error: Error = new PullRequestHostFailed("the host is away")) {
      hostError = error;
    },
    /** Makes the deployer's objects unreadable, or readable again. */
    losesDeployer(isAway = true) {
      const away = new KubeError({ status: 503, reason: "ServiceUnavailable" });
      world.cluster.fail(applicationKind, isAway ? away : undefined);
    },
    holdNamespace: (...finalizers: string[]) => world.cluster.hold(namespaceKind, namespaceOf(shop), finalizers),
    holdApplication: (...finalizers: string[]) => world.cluster.hold(applicationKind, applicationOf(shop), finalizers),
    async pass({ after = 0 } = {}): Promise<Teardown & { states: string[] }> {
      clock.advance(after * MINUTE_MS);
      const annotations = force === undefined ? {} : { annotations: { [FORCE_TEARDOWN_ANNOTATION]: force } };
      const leaving = {
        metadata: { ...shop, deletionTimestamp: CREATED, ...annotations },
        variables: [],
        reportDeleted,
        record,
      };
      const signal = new AbortController().signal;
      const teardown = await tearDown(
        { ...leaving, status: { teardown: { steps: [...steps], removals: [...removals] } } },
        { ...world, signal },
      );
      ({ steps, removals } = teardown);
      return { ...teardown, states: steps.map(({ state }) => state) };
    },
  };
}

export type Scene = Awaited<ReturnType<typeof scene>>;

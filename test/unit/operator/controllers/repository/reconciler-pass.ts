import { settingsFrom } from "../../../../../config/settings.ts";
import type { ConfigSet } from "../../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { Repository, RepositoryStatus } from "../../../../../crds/repository/repository.ts";
import { createRepositoryReconciler } from "../../../../../operator/controllers/repository/reconcile.ts";
import type { RepositoryHost } from "../../../../../operator/ports/repository-host.ts";
import { memoryConfigSets } from "../../../../support/doubles/memory/config-sets.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  minutesLater,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";

/** A signal that never aborts. */
export const { signal } = new AbortController();
const hostCredentials = [{ id: "shop", hosts: ["git.test", "registry.test"] }];
const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });

const answering: RepositoryHost = { head: async () => commitA };

export interface Given {
  readonly repository?: Partial<Repository["metadata"]>;
  readonly spec?: Partial<Repository["spec"]>;
  readonly status?: RepositoryStatus;
  readonly others?: readonly Repository[];
  readonly configSets?: readonly ConfigSet[];
  readonly host?: RepositoryHost;
  /** True: the secret manager is unreachable. */
  readonly isAway?: boolean;
  /** The secret manager's value of `shop`. */
  readonly credential?: string;
  readonly isUsed?: boolean;
  /** Environments that no watch has delivered yet. */
  readonly unheard?: readonly EphemeralEnvironment[];
  readonly minutes?: number;
}

/** One reconcile of `shop-api`; returns its writes and its requeue time. */
export async function pass({
  repository,
  spec,
  status,
  others = [],
  configSets = [],
  host = answering,
  ...given
}: Given) {
  const written: { held: number; released: number; status: RepositoryStatus[] } = { held: 0, released: 0, status: [] };
  const clock = new TestClock(CREATED);
  clock.advance((given.minutes ?? 0) * 60_000);
  const fixture = repositoryFixture("shop-api", spec);
  const found = { ...fixture, metadata: { ...fixture.metadata, ...repository }, ...(status ? { status } : {}) };
  const secretManager = memorySecretManager();
  secretManager.share({ id: "shop", labels: {}, values: given.credential === undefined ? [] : [given.credential] });
  secretManager.setReachable(given.isAway !== true);
  const reconcile = createRepositoryReconciler({
    repositories: memoryRepositories(found, ...others),
    configSets: memoryConfigSets(...configSets),
    settings,
    secretManager,
    webhookDeliveries: { list: () => [] },
    repositoryHost: host,
    repositoryStatusWriter: {
      async addFinalizer(held) {
        written.held += 1;
        return held;
      },
      async removeFinalizer() {
        written.released += 1;
      },
      async writeStatus(judged, next) {
        written.status.push(next);
        return { ...judged, status: next };
      },
    },
    isUsed: () => given.isUsed ?? false,
    environments: { countNow: async (isMeant) => (given.unheard ?? []).filter(isMeant).length },
    clock,
  });
  const result = await reconcile("shop-api", { signal, requeueUrgently: () => undefined });
  return { ...written, result };
}

/** The status after a successful check. */
export function well(minutes = 0): RepositoryStatus {
  const at = minutesLater(minutes).toISOString();
  const condition = { type: "Ready", status: "True" as const, reason: "Checked", message: "", observedGeneration: 1 };
  return {
    observedGeneration: 1,
    reachable: true,
    lastCheckedAt: at,
    conditions: [{ ...condition, lastTransitionTime: CREATED }],
  };
}

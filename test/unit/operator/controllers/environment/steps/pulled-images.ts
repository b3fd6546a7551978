import { beforeEach } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { credentialsIn } from "../../../../../../operator/controllers/environment/desired/pull-secret.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import { done, type StepResult } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  retirePulls,
  type SecretsContext,
  withPullSecret,
} from "../../../../../../operator/controllers/environment/steps/pull-secret.ts";
import { secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import { type MemoryCluster, memoryCluster } from "../../../../../support/doubles/memory/cluster.ts";
import { type MemoryRepositories, memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { type MemorySecretManager, memorySecretManager } from "../../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

export const ref = { name: "image-pull", namespace: "env-shop" };
/** The Secret's status once it exists. */
export const MADE: NonNullable<EnvironmentStatus["pullSecret"]> = [
  { registry: "registry.test", source: "shop@latest" },
];
export const podSecrets = ["environment-secrets-00000001"];

interface Given {
  readonly isCheckDue?: boolean;
  /** The result of the pods' Secret. */
  readonly result?: StepResult;
}

/** An environment whose images need a credential of its Repository, and reconciles of the step; new for each test. */
export function pulledImages() {
  let cluster: MemoryCluster;
  let secretManager: MemorySecretManager;
  let repositories: MemoryRepositories;
  let status: EnvironmentStatus;
  let clock: TestClock;
  let spec: Partial<EnvironmentSpec>;

  beforeEach(() => {
    cluster = memoryCluster();
    secretManager = memorySecretManager();
    clock = new TestClock();
    repositories = memoryRepositories();
    status = { podSecrets };
    spec = {};
    named("shop");
    store("reader:one");
  });

  const store = (value: string) => secretManager.share({ id: "shop", labels: {}, values: [value] });

  /** Sets or removes the Repository's credential, for an existing image. */
  function named(credential?: string, image = "registry.test/shop-api"): void {
    const spec = credential === undefined ? {} : { imagePullSecretRef: { name: credential, key: "latest" } };
    repositories.put(repositoryFixture("shop-api", { image: { repository: image }, ...spec }));
  }

  function contextOf(isCheckDue = false): SecretsContext {
    const hostCredentials = [
      { id: "shop", hosts: ["registry.test"] },
      { id: "other", hosts: ["other.test"] },
    ];
    const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
    return {
      cluster,
      secretManager,
      repositories,
      settings,
      isCheckDue,
      checks: createSchedule(clock, 600_000),
      environmentsOf: () => [],
      earlier: new Map(),
      canContinueAfter: async () => true,
    };
  }

  /** A reconcile a minute later; its findings are in the next one's status. */
  async function pass({ isCheckDue = false, result = done("Mirrored") }: Given = {}) {
    clock.advance(60_000);
    const ended = await withPullSecret(environmentFixture({ spec, status }), result, contextOf(isCheckDue));
    status = { ...status, ...ended.findings };
    return ended;
  }

  /** Only the version with these images runs. */
  async function runs(image = "registry.test/shop-api"): Promise<void> {
    const sources = { backend: { applied: { branch: "main", commit: "", image: `${image}:1` } } };
    status = { ...status, desiredHash: "1", sources };
    const found = await retirePulls(environmentFixture({ spec, status }), contextOf());
    status = { ...status, ...found };
  }

  /** Pull credentials by registry; `undefined` without a Secret. */
  function contents(): Record<string, string> | undefined {
    const found = cluster.observe(environmentFixture().metadata, secretKind, ref);
    if (found === undefined) return undefined;
    return Object.fromEntries(
      [...credentialsIn(found)].map(([registry, credential]) => [registry, credential.reveal()]),
    );
  }

  const held = () => contents()?.["registry.test"];

  return {
    get cluster() {
      return cluster;
    },
    get secretManager() {
      return secretManager;
    },
    get repositories() {
      return repositories;
    },
    get status() {
      return status;
    },
    set status(value) {
      status = value;
    },
    get spec() {
      return spec;
    },
    set spec(value) {
      spec = value;
    },
    store,
    named,
    pass,
    runs,
    contents,
    held,
  };
}

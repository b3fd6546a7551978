import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import type { Sensitive } from "../../../../../../crds/sensitive.ts";
import { application } from "../../../../../../operator/controllers/environment/steps/application.ts";
import type { ChartLogin, ObservedApplication } from "../../../../../../operator/ports/deployer.ts";
import { type SecretManager, SecretManagerUnavailable } from "../../../../../../operator/ports/secret-manager.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../../support/doubles/memory/secret-manager.ts";
import { partialDouble } from "../../../../../support/doubles/partial-double.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

const HALF_OF_RESYNC_MS = 300_000;
const hostCredentials = [{ id: "shop", hosts: ["git.test"] }];
const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
const broken: ObservedApplication = { state: "broken", problem: "ChartInvalid", revision: "", message: "401" };
const healthy: ObservedApplication = { state: "healthy", revision: "0123456789abcdef", message: "" };

interface Scene {
  /** Age of the login that the deployer was given. */
  readonly ageMs?: number;
  readonly isAway?: boolean;
  /** The value in the secret manager. */
  readonly stored?: string;
  readonly repoUrl?: string;
  readonly observed?: ObservedApplication;
  readonly status?: EnvironmentStatus;
  readonly isRequested?: boolean;
}

/** One reconcile of the application, and what the deployer was given by it. */
async function reconcile(scene: Scene) {
  const { ageMs = Infinity, isAway, stored = "reader:word", repoUrl = "https://git.test/charts.git" } = scene;
  const secretManager = memorySecretManager();
  if (stored !== "") secretManager.share({ id: "shop", labels: {}, values: [stored] });
  const chart = { repoUrl, path: "shop", revision: "main", credentialsRef: { name: "shop", key: "latest" } };
  const given: (ChartLogin | undefined)[] = [];
  const ensured: object[] = [];
  const dependencies = stepDependencies({
    settings,
    clock: new TestClock(CREATED),
    repositories: memoryRepositories(repositoryFixture("shop-api", { chart })),
    secretManager: partialDouble<SecretManager>({
      read: (id, version) =>
        isAway ? Promise.reject(new SecretManagerUnavailable("it is away")) : secretManager.read(id, version),
    }),
    deployer: {
      loginAgeMs: () => ageMs,
      ensureProject: async (_owner, to, login) => {
        expect(to).toEqual({ repoUrl, path: "shop", revision: "main" });
        given.push(login);
      },
      ensure: async (desired) => {
        ensured.push(desired);
        return "changed";
      },
      observe: () => scene.observed,
      retry: async () => 15_000,
    },
    pods: { diagnose: async () => ({ problems: [], quiet: [], isServing: false }) },
  });
  const sources = { backend: { applied: { branch: "main", commit: commitA, image: "registry.test/shop-api:a" } } };
  const environment = environmentFixture({ status: { sources, ...scene.status } });
  const annotations = scene.isRequested ? { [RECONCILE_ANNOTATION]: "now" } : {};
  const requested = { ...environment, metadata: { ...environment.metadata, annotations } };
  const result = await application(dependencies).run(requested, stepContext());
  const shown = (login: ChartLogin | undefined) =>
    login && { ...login, ...(login.credential && { credential: (login.credential as Sensitive).reveal() }) };
  return { result, given: given.map(shown), isEnsured: ensured.length > 0 };
}

const source = "shop@latest";
const deployed: EnvironmentStatus = { desiredHash: "0123456789ab" };
const condition = (type: "ApplicationSynced" | "SecretsReady", status: "True" | "Unknown", reason: string) => ({
  type,
  status,
  reason,
  message: "",
  lastTransitionTime: CREATED,
});
const synced = (status: "True" | "Unknown", reason = "Any"): EnvironmentStatus => ({
  ...deployed,
  conditions: [condition("ApplicationSynced", status, reason)],
});
const withoutSecrets: EnvironmentStatus = {
  ...deployed,
  conditions: [condition("SecretsReady", "Unknown", "Any"), condition("ApplicationSynced", "True", "Any")],
};

describe("the credential of a chart's place", () => {
  test.each<[string, Scene, object]>([
    ["is given before the application is made", {}, { source, credential: "reader:word" }],
    ["is not read again soon", { ageMs: HALF_OF_RESYNC_MS - 1, status: synced("True"), observed: healthy }, { source }],
    [
      "is read again with the periodic reconcile",
      { ageMs: HALF_OF_RESYNC_MS, status: synced("True"), observed: healthy },
      { source, credential: "reader:word" },
    ],
    [
      "is read again where a reconcile was requested",
      { ageMs: 0, status: synced("True"), observed: healthy, isRequested: true },
      { source, credential: "reader:word" },
    ],
    [
      "is read again where the application is not well, perhaps because of it",
      { ageMs: 30_000, status: synced("Unknown"), observed: broken },
      { source, credential: "reader:word" },
    ],
    [
      "is read again where a step before did not reach its end, in which a request may have been answered",
      { ageMs: 0, status: withoutSecrets, observed: healthy },
      { source, credential: "reader:word" },
    ],
    [
      "is read again where the application was broken off by an error",
      { ageMs: 0, status: synced("Unknown", "Retrying"), observed: broken },
      { source, credential: "reader:word" },
    ],
    [
      "stays while the secret manager is away, and is read as soon as it is back",
      { isAway: true, status: deployed, observed: healthy },
      { source, mayBeOutdated: true },
    ],
  ])("%s", async (_, scene, expected) => {
    expect(await reconcile(scene)).toMatchObject({ given: [expected], isEnsured: true });
  });

  test.each<[string, Scene, string]>([
    ["is bound to another host", { repoUrl: "https://evil.test/charts.git" }, "CredentialNotBound"],
    ["is not there", { stored: "" }, "CredentialNotFound"],
    ["is none", { stored: "word" }, "CredentialInvalid"],
  ])("that %s is taken back; a first deployment fails, and what runs well goes on", async (_, scene, reason) => {
    const first = await reconcile(scene);
    expect(first).toMatchObject({ given: [undefined], isEnsured: false, result: { state: "failed", reason } });
    const running = await reconcile({ ...scene, status: synced("True"), observed: healthy });
    expect(running).toMatchObject({ given: [undefined], isEnsured: true, result: { state: "done" } });
    const ill = await reconcile({ ...scene, status: synced("Unknown"), observed: broken });
    expect(ill).toMatchObject({ isEnsured: true, result: { reason } });
    expect(ill.result.state).not.toBe("done");
  });

  test("is waited for before a first deployment, while the secret manager is away", async () => {
    const { result, isEnsured } = await reconcile({ isAway: true });
    expect(result).toMatchObject({ state: "waiting", reason: "SecretManagerUnavailable" });
    expect(isEnsured).toBe(false);
  });
});

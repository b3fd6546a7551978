import { settingsFrom } from "../../../../../../config/settings.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { source } from "../../../../../../operator/controllers/environment/steps/source.ts";
import { CredentialRejected } from "../../../../../../operator/ports/repository-host.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../../support/doubles/memory/secret-manager.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  minutesLater,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";

/** A commit other than `commitA`. */
export const commitB = "b".repeat(40);
/** The head of every existing branch. */
export const HEAD = "f".repeat(40);

export interface Scene {
  readonly spec?: Partial<EnvironmentSpec>;
  /** Settled commits; default branch: `main`. */
  readonly before?: {
    readonly resolved?: string;
    readonly applied?: string;
    readonly branch?: string;
    readonly requests?: string;
  };
  readonly minutes?: number;
  readonly token?: string;
  /** `<branch>@<commit>` of the application. */
  readonly carried?: string;
  readonly registered?: readonly string[];
  /** Changes of the Repositories. */
  readonly repository?: Partial<RepositorySpec>;
  /** True: the git host refuses everyone. */
  readonly isClosed?: boolean;
}

const hostCredentials = [{ id: "shop", hosts: ["git.test"] }];
const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
/** A spec with this backend. */
export const backend = (more: object) => ({ backend: { repository: "shop-api", branch: "main", ...more } });
/** The image of a commit by the Repository's pattern. */
export const imageOf = (commit: string) => `registry.test/shop-api:${commit}`;

/** The status after this history. */
export function statusOf({
  resolved,
  applied,
  branch = "main",
  requests: requested,
}: NonNullable<Scene["before"]>): EnvironmentStatus {
  const given = applied && { branch, commit: applied, image: imageOf(applied) };
  return {
    sources: {
      backend: {
        ...(resolved
          ? { resolved: { branch, commit: resolved, ...(requested ? { reconcileToken: requested } : {}) } }
          : {}),
        ...(given ? { applied: given } : {}),
      },
    },
  };
}

/** A run of the step: its result, the branches read from the git host, and the settled sources. */
export async function step(scene: Scene) {
  const { spec = {}, before, minutes = 0, token, carried, registered = ["shop-api"], repository } = scene;
  const requested: string[] = [];
  const secretManager = memorySecretManager();
  secretManager.share({ id: "shop", labels: {}, values: ["reader:word"] });
  const environment = environmentFixture({
    spec,
    ...(before ? { status: statusOf(before) } : {}),
    metadata: { annotations: token === undefined ? {} : { [RECONCILE_ANNOTATION]: token } },
  });
  const [branch = "", commit = ""] = carried?.split("@") ?? [];
  const { run, continueWithPrevious } = source(
    stepDependencies({
      clock: new TestClock(minutesLater(minutes).toISOString()),
      deployer: { deployedSources: () => (carried ? { backend: { branch, commit } } : {}) },
      repositories: memoryRepositories(...registered.map((name) => repositoryFixture(name, repository))),
      settings,
      secretManager,
      repositoryHost: {
        async head(_url, of, credential) {
          requested.push(credential === undefined ? of : `${of} as ${credential.reveal()}`);
          if (scene.isClosed) throw new CredentialRejected("renew it");
          return of === "gone" ? undefined : HEAD;
        },
      },
    }),
  );
  const result = await run(environment, stepContext());
  const found = result.findings?.sources?.backend ?? environment.status?.sources?.backend;
  return { result, requested, found, stands: continueWithPrevious?.(environment) };
}

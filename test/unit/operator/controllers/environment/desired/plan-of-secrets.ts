import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec, SecretStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import type { EnvironmentVariable } from "../../../../../../crds/overrides.schema.ts";
import { secretPlan } from "../../../../../../operator/controllers/environment/desired/secret-plan.ts";
import {
  environmentFixture,
  repositoryFixture,
  UID,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

type Secrets = NonNullable<EnvironmentSpec["secrets"]>;

export interface Given {
  /** The secrets of the backend's Repository; default: `KEY`. */
  readonly listed?: readonly string[];
  readonly requested?: Secrets;
  readonly env?: EnvironmentVariable[];
  readonly frontendEnv?: EnvironmentVariable[];
  readonly configSet?: ConfigSetSpec;
  readonly groups?: string[];
  /** `spec.database.provision`. */
  readonly database?: boolean;
  readonly former?: SecretStatus[];
}

/** The plan of an environment with these secrets. */
export function plan({
  listed = ["KEY"],
  requested: requests,
  env,
  frontendEnv,
  configSet,
  groups = [],
  database,
  former,
}: Given) {
  const environment = environmentFixture({
    spec: {
      ...(frontendEnv && { frontend: { repository: "shop-web", branch: "main" } }),
      ...(requests && { secrets: requests }),
      ...(database === undefined ? {} : { database: { provision: database } }),
      overrides: { ...(env && { backend: { env } }), ...(frontendEnv && { frontend: { env: frontendEnv } }) },
      access: { groups },
    },
    ...(former && { status: { secrets: former } }),
  });
  const backend = repositoryFixture("shop-api", { secrets: listed.map((name) => ({ name })) });
  const frontend = repositoryFixture("shop-web", { type: "frontend", secrets: [] });
  return secretPlan(planInputFixture(environment, { backend, ...(frontendEnv && { frontend }) }, configSet));
}

/** A variable that refers to a shared secret. */
export const refers = (name: string, id: string, key = "latest"): EnvironmentVariable => ({
  name,
  secretRef: { name: id, key },
});
export const own = (name: string, version: number, rotation?: string): SecretStatus =>
  rotation === undefined ? { name, version } : { name, version, rotation };
export const url = (version: number, more: Partial<SecretStatus> = {}): SecretStatus => ({
  name: "DATABASE_URL",
  version,
  source: "DATABASE_PASSWORD@latest",
  ...more,
});
/** The prefix of its entries in the secret manager. */
export const alias = `shop-${UID.replaceAll("-", "").slice(0, 8)}`;

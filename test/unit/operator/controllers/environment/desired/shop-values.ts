import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import type { RepositorySpec } from "../../../../../../crds/repository/repository.ts";
import { environmentValues } from "../../../../../../operator/controllers/environment/desired/values.ts";
import {
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

/** The parts of an environment that a test sets. */
export type Parts = NonNullable<Parameters<typeof environmentFixture>[0]>;

export const image = `registry.test/shop-api:${commitA}`;
/** A source with a known commit and image. */
export const settled = { applied: { branch: "main", commit: commitA, image } };

/** An environment with settled sources. */
export function shop({ spec, status, metadata }: Parts = {}): EphemeralEnvironment {
  const sources = { backend: settled, ...(spec?.frontend ? { frontend: settled } : {}) };
  return environmentFixture({ spec: { ...spec }, status: { sources, ...status }, ...(metadata ? { metadata } : {}) });
}

/** The chart's values of an environment with this backend's Repository. */
export function valuesOf(
  environment: EphemeralEnvironment,
  backend: Partial<RepositorySpec> = {},
  settings = fixtureSettings,
) {
  const frontend = repositoryFixture("shop-web", { type: "frontend", port: 3000, healthPath: "/up" });
  const repositories = { backend: repositoryFixture("shop-api", backend), frontend };
  return environmentValues(planInputFixture(environment, repositories), settings);
}

/** The values of a backend with a minimal Repository. */
export const backendValues = {
  image,
  commit: commitA,
  pullPolicy: "IfNotPresent",
  port: 8080,
  healthPath: "/",
  host: "shop--api.env.localhost",
  url: "https://shop--api.env.localhost:18443",
  env: [{ name: "PUBLIC_URL", value: "https://shop--api.env.localhost:18443" }],
};

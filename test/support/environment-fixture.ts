import { type Settings, settingsFrom } from "../../config/settings.ts";
import type { ConfigSet, ConfigSetSpec } from "../../crds/config-set.ts";
import type { Pipeline } from "../../crds/ephemeral-environment.schema.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { API_VERSION } from "../../crds/group.ts";
import type { Repository, RepositorySpec } from "../../crds/repository.ts";
import { testSettings } from "./platform-chart.ts";

export const UID = "0a1b2c3d-1111-4222-8333-444455556666";
export const CREATED = "2026-01-01T00:00:00.000Z";
export const commitA = "a".repeat(40);

/** The settings of the tests with all defaults. */
export const fixtureSettings: Settings = settingsFrom(testSettings);

interface Parts {
  readonly spec?: Partial<EphemeralEnvironment["spec"]>;
  readonly status?: EphemeralEnvironment["status"];
  readonly metadata?: Partial<EphemeralEnvironment["metadata"]>;
}

/** An environment as the API server would answer it: made at `CREATED`, backend alone, no status unless given. */
export function environmentFixture({ spec, status, metadata }: Parts = {}): EphemeralEnvironment {
  return {
    apiVersion: API_VERSION,
    kind: "EphemeralEnvironment",
    metadata: {
      ...{ name: "shop", uid: UID, resourceVersion: "1", generation: 1, creationTimestamp: CREATED },
      ...metadata,
    },
    spec: { backend: { repository: "shop-api", branch: "main", commit: commitA }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** A registered Repository, a backend unless said otherwise. */
export function repositoryFixture(name = "shop-api", spec: Partial<RepositorySpec> = {}): Repository {
  return {
    apiVersion: API_VERSION,
    kind: "Repository",
    metadata: {
      ...{ name, namespace: "ephemeral-system", uid: UID, resourceVersion: "1", generation: 1 },
      creationTimestamp: CREATED,
    },
    spec: {
      type: "backend",
      cloneUrl: `https://git.test/${name}.git`,
      image: { repository: `registry.test/${name}` },
      ...spec,
    },
  };
}

/** A pipeline of the fixture's commit, running since `CREATED` unless said otherwise. */
export function pipelineFixture(more: Partial<Pipeline> = {}): Pipeline {
  return { project: "g/shop", id: 7, commit: commitA, status: "running", at: CREATED, ...more };
}

/** A config set in its first version. */
export function configSetFixture(
  name = "web",
  spec: ConfigSetSpec = {},
  metadata: Partial<ConfigSet["metadata"]> = {},
): ConfigSet {
  return {
    apiVersion: API_VERSION,
    kind: "ConfigSet",
    metadata: {
      ...{ name, namespace: "ephemeral-system", uid: UID, resourceVersion: "1", generation: 1 },
      ...{ creationTimestamp: CREATED, ...metadata },
    },
    spec,
  };
}

/** So many minutes after `CREATED`. */
export function minutesLater(minutes: number): Date {
  return new Date(Date.parse(CREATED) + minutes * 60_000);
}

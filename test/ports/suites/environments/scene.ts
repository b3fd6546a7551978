import { afterAll, beforeAll } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Environments } from "../../../../operator/ports/api/environments.ts";
import { unique } from "../../../support/plane/people.ts";

export interface EnvironmentsWorld {
  readonly environments: Environments;
  /** Adds a finalizer as the operator does, so that a deletion waits for `release`. */
  hold(environment: EphemeralEnvironment): Promise<void>;
  /** Switches the answers to requested reconciles on or off. */
  setOperating(isOperating: boolean): void;
  /** Finishes the deletion of an environment. */
  release(environment: EphemeralEnvironment): Promise<void>;
  stop(): Promise<void>;
}

export const spec: EnvironmentSpec = {
  ttlHours: 24,
  backend: { repository: "sample-backend", branch: "main" },
  access: { groups: ["team"] },
  trigger: { kind: "api" },
};

/** A separate control plane starts and stops in seconds, longer on a busy machine. */
const WORLD_DEADLINE_MS = 60_000;

/** Maximum duration of a requested reconcile. */
export const PASS_DEADLINE_MS = 20_000;

/** The UID of no environment. */
export const NO_ONES_ID = "00000000-0000-4000-8000-000000000000";

/** A world that lives as long as the suite, and environments made in it. */
export function environmentsScene(makeWorld: () => Promise<EnvironmentsWorld>) {
  let world: EnvironmentsWorld;

  beforeAll(async () => {
    world = await makeWorld();
  }, WORLD_DEADLINE_MS);
  afterAll(() => world.stop(), WORLD_DEADLINE_MS);

  const create = (more: Partial<EnvironmentSpec> = {}) =>
    world.environments.create(unique("suite-"), { ...spec, ...more });
  const createHeld = async (more: Partial<EnvironmentSpec> = {}) => {
    const made = await create(more);
    await world.hold(made);
    return found(made.metadata.uid);
  };
  const found = async (idOrName: string) => {
    const environment = await world.environments.find(idOrName);
    if (environment === undefined) throw new Error(`no environment ${idOrName}`);
    return environment;
  };

  return {
    get world() {
      return world;
    },
    create,
    createHeld,
    found,
  };
}

export type EnvironmentsScene = ReturnType<typeof environmentsScene>;

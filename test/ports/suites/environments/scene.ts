import { afterAll, beforeAll } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Environments } from "../../../../operator/ports/facade/environments.ts";
import { unique } from "../../../support/faults/people.ts";

/** An adapter with the rest of the world around it. */
export interface EnvironmentsWorld {
  readonly environments: Environments;
  /** Takes hold of an environment as the operator does, so that a deletion waits for `release`. */
  hold(environment: EphemeralEnvironment): Promise<void>;
  /** Whether passes that are asked for are answered, as the operator does. */
  setOperating(isOperating: boolean): void;
  /** Lets an environment that is being deleted go. */
  release(environment: EphemeralEnvironment): Promise<void>;
  /** Removes what the tests made. */
  stop(): Promise<void>;
}

/** What every environment of the suite asks for. */
export const spec: EnvironmentSpec = {
  ttlHours: 24,
  backend: { repository: "sample-backend", branch: "main" },
  access: { groups: ["team"] },
  trigger: { kind: "api" },
};

/** A control plane of one's own starts and stops in seconds, on a busy machine in more. */
const WORLD_DEADLINE_MS = 60_000;

/** How long a pass that is asked for may take. */
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

/** What `environmentsScene` returns. */
export type EnvironmentsScene = ReturnType<typeof environmentsScene>;

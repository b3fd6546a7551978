import { expect } from "@jest/globals";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { namespaceKind, resourceQuotaKind, secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { ResourceType } from "../../../operator/kit/client/objects.ts";
import { until } from "../fixtures/until.ts";
import { recordLifecycles } from "./fault-lifecycles.ts";
import type { RecordedLifecycle } from "./fault-run.ts";
import type { FaultWorld } from "./fault-world.ts";
import { CONVERGENCE_MS, orphans, snapshot } from "./invariants.ts";
import type { InvariantId } from "./world-observer.ts";

/** An environment of a scene, and its part of life. */
export interface Actor {
  readonly name: string;
  readonly lifecycle: RecordedLifecycle;
}

/** Begins when everything is in motion; its end is the end of the disturbance. */
export type Disturb = (actors: readonly Actor[]) => Promise<unknown>;

/**
 * Plays a scene: environments are created, changed and deleted at once during a disturbance; all reach their end. `itself`
 * is the invariant that the disturbance itself violates.
 */
export type Play = (title: string, disturb: Disturb, itself?: InvariantId) => Promise<void>;

/**
 * Probes are more frequent than settings allow: with a few environments, no scene waits long for its last URL. Time is
 * faster for the operator, because a scene mostly waits for retries.
 */
export const SCENE_WORLD = { probeSeconds: 6, pace: 3 } as const;

const foreign = [
  { type: namespaceKind, ref: { name: "env-foreign" } },
  { type: resourceQuotaKind, ref: { name: "environment", namespace: "env-foreign" } },
  { type: secretKind, ref: { name: "environment-secrets-1", namespace: "env-foreign" } },
  { type: applicationKind, ref: { name: "of-another-owner", namespace: "argocd" } },
  { type: secretKind, ref: { name: "of-another-owner-00000000", namespace: "ephemeral-secrets" } },
] as const;

/** Starts an operator in the world, records lives without disturbance, and creates foreign objects. */
export async function prepareScenes(world: FaultWorld): Promise<Play> {
  const { admin } = world.world;
  for (const { type, ref } of foreign) await admin.create(type, { metadata: ref, ...contentOf(type) } as never);
  await world.nextLife();
  const lifecycles = await recordLifecycles(world);
  const foreignBefore = await snapshot(admin, foreign);
  return async (title, disturb, itself) => {
    const actors = lifecycles.map((lifecycle, part) => ({ lifecycle, name: `${title}-${part}` }));
    const before = (await world.observer.violations()).length;
    for (const { name } of actors) world.field.arm(name);
    await Promise.all(actors.map(({ lifecycle, name }) => lifecycle.given(name)));
    const unanswered = new Set(actors.map(({ name }) => name));
    const acts = Promise.all(
      actors.map(async ({ lifecycle, name }) => {
        await lifecycle.act(name);
        unanswered.delete(name);
      }),
    );
    // A scene that fails earlier has its own error.
    acts.catch(() => undefined);
    await disturb(actors);
    await expectConverged(actors, unanswered);
    await acts;
    // No invariant was violated meanwhile.
    const seen = (await world.observer.violations()).slice(before);
    expect(seen.filter(({ invariant }) => invariant !== itself)).toEqual([]);
    expect(await orphans(admin)).toEqual([]);
    expect(await snapshot(admin, foreign)).toEqual(foreignBefore);
  };
}

/** Plays with an operator with these options, and afterwards starts one without them. */
export async function under(
  world: FaultWorld,
  options: Parameters<FaultWorld["nextLife"]>[0],
  scene: () => Promise<void>,
): Promise<void> {
  await world.nextLife(options);
  try {
    await scene();
  } finally {
    await world.nextLife();
  }
}

function contentOf(type: ResourceType<WireObject>): object {
  const source = { repoURL: "https://git.test/x.git", path: "." };
  const destination = { server: "https://kubernetes.default.svc", namespace: "elsewhere" };
  return type === applicationKind ? { spec: { project: "default", source, destination } } : {};
}

/** A failure names environments whose request was unanswered: the platform could not have acted on it. */
async function expectConverged(actors: readonly Actor[], unanswered: ReadonlySet<string>): Promise<void> {
  const missing = () => actors.flatMap(({ lifecycle, name }) => lifecycle.missing(name));
  const isOver = () => missing().length === 0;
  await until(isOver, { what: "the wanted state", deadlineMs: CONVERGENCE_MS, everyMs: 25 }).catch(() => undefined);
  const left = missing().map((violation) => ({ ...violation, isAnswered: !unanswered.has(violation.environment) }));
  expect(left).toEqual([]);
}

import { expect } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION, REQUESTED_ANNOTATION } from "../../../crds/group.ts";
import { IDLE_MINUTES, type SleepWish } from "../../../crds/sleep.schema.ts";
import { configSetType, environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { insteadOf, isAlreadyExists, isUnavailable } from "../../../operator/kit/client/errors.ts";
import { unchangedFor } from "../fixtures/unchanged-for.ts";
import { until } from "../fixtures/until.ts";
import { COMMIT, type World } from "../worlds/environment-world.ts";
import { lastingWrites } from "./fault-plans.ts";
import { OTHER_HOST } from "./fault-registry.ts";
import type { Lifecycle, RecordedLifecycle } from "./fault-run.ts";
import { type FaultWorld, faultSpec } from "./fault-world.ts";
import { type NormalForm, normalForm, unlikeReference } from "./invariants.ts";
import type { Violation } from "./world-observer.ts";

/** A part of environments' lives before its recording. */
export interface Part {
  readonly name: string;
  /** Absent for the creation. */
  readonly given?: Lifecycle["given"];
  readonly act: Lifecycle["act"];
  /** The environment's sign of the end, besides being ready. */
  readonly isEnd?: (environment: EphemeralEnvironment) => boolean;
  /** True when the environment is gone at the end. */
  readonly leaves?: boolean;
  /** Further missing parts of the end. */
  readonly reported?: Lifecycle["missing"];
  /** Tolerated additional writes without faults: the number of reports varies. */
  readonly slack?: number;
  /** True: the probe, which every ready environment has, is no target. */
  readonly needsNoProbe?: boolean;
}

const PROBE = "call prober.probe";

const referenceOf = (part: string) => `without-fault-${part.replaceAll(" ", "-")}`;

/** Runs each part of environments' lives once without faults: the reference and the list of targets. */
export function recordLifecycles(world: FaultWorld, parts = ownParts(world)): Promise<RecordedLifecycle[]> {
  return Promise.all(parts.map((part) => record(world, part, referenceOf(part.name))));
}

function ownParts(world: FaultWorld): Part[] {
  const { ready, patched, insisted } = deeds(world);
  const night = hoursFarFrom(world.clock.now());
  const found = (name: string) => world.observer.environment(name) as EphemeralEnvironment;
  return [
    { name: "create", act: (name) => world.create(name) },
    {
      name: "extend",
      given: ready(),
      act: (name) => world.asClient(name, ({ environments }) => environments.extend(found(name), { ttlHours: 48 })),
      isEnd: ({ status }) => status?.ttlHours === 48,
      needsNoProbe: true,
    },
    {
      name: "move to another commit",
      given: ready(),
      act: patched({ backend: { commit: COMMIT } }),
      isEnd: ({ status }) => status?.components?.backend?.commit === COMMIT,
    },
    {
      name: "rotate a secret",
      given: ready(),
      act: patched({ secrets: { rotate: { SECRET_KEY: "leaked" } } }),
      // The former values are removed when the URLs have answered again with the new ones.
      isEnd: ({ status }) => status?.podSecrets?.length === 1 && !!status.secrets?.some(({ version }) => version === 2),
    },
    {
      name: "move to another config set version",
      given: async (name) => {
        await configure(world.world, name);
        await ready({ configSet: { name } })(name);
        await reconfigure(world.world, name);
      },
      act: (name) => patched({ configSet: { name, version: 2 } })(name),
      isEnd: ({ status }) => status?.configSet?.version === 2,
    },
    {
      name: "get a copied database",
      given: async (name) => {
        const source = `${name}-source`;
        await world.world.create(source, { ...faultSpec(source), ...SHARED, database: { provision: true } });
        await ready(SHARED)(name);
      },
      act: (name) => patched({ database: { provision: true, from: { environment: `${name}-source` } } })(name),
      isEnd: ({ status }) => status?.podSecrets?.length === 1 && status.database?.from !== undefined,
      // While its policy fails, the secret manager is asked each time.
      slack: 3,
    },
    {
      name: "get a database with a seed in git",
      given: ready(),
      act: (name) => patched({ database: { provision: true, seed: seedInGit(name) } })(name),
      isEnd: ({ status }) =>
        status?.podSecrets?.length === 1 && status.database?.made === true && status.database.file === undefined,
    },
    {
      name: "lend a database",
      given: ready({ ...SHARED, database: { provision: true } }),
      act: async (name) => {
        const database = { provision: true, from: { environment: name } };
        const made = () => world.world.create(copyOf(name), { ...faultSpec(copyOf(name)), ...SHARED, database });
        await insisted(copyOf(name), () => made().catch(insteadOf(isAlreadyExists, undefined)));
        // A status of its own, so that the last one of before is not taken for one of this part.
        await patched({ ttlHours: 48 })(name);
      },
      isEnd: ({ status }) => status?.ttlHours === 48,
      reported: (name) => {
        const copy = found(copyOf(name));
        const isMade = isReady(copy) && copy?.status?.database?.from !== undefined;
        return isMade ? [] : [{ invariant: "I1", environment: name, what: "its copy is not made" }];
      },
      needsNoProbe: true,
    },
    {
      name: "pull with a renewed credential",
      given: async (name) => {
        await world.registry.register(name);
        await ready({ backend: { repository: name, branch: name } })(name);
      },
      act: async (name) => {
        await insisted(name, () => world.registry.renew(name));
        await patched({}, { annotations: { [RECONCILE_ANNOTATION]: RENEWED } })(name);
      },
      isEnd: ({ status }) => status?.lastHandledReconcileAt === RENEWED,
    },
    {
      name: "pull from another registry",
      given: async (name) => {
        await world.registry.register(name);
        await ready({ backend: { repository: name, branch: name } })(name);
      },
      act: (name) => insisted(name, () => world.registry.move(name)),
      // The former registry's credential is removed when the URLs have answered again.
      isEnd: ({ status }) => status?.pullSecret?.map(({ registry }) => registry).join() === OTHER_HOST,
    },
    { name: "suspend", given: ready(), act: patched({ suspended: true }), isEnd: isSuspended, needsNoProbe: true },
    {
      name: "wake",
      given: ready({ suspended: true }),
      act: patched({ suspended: false }),
      isEnd: (environment) => !isSuspended(environment),
    },
    { name: "fall asleep by a schedule", given: ready(), act: patched({ sleep: night }), isEnd: isAsleep },
    {
      name: "wake by a request",
      given: async (name) => {
        await ready({ sleep: night })(name);
        await until(() => isAsleep(found(name)), { what: `'${name}' being asleep`, ...READY });
      },
      act: (name) => {
        const sinceMs = Date.parse(found(name).status?.sleep?.since ?? "");
        const annotations = { [REQUESTED_ANNOTATION]: new Date(sinceMs + 1).toISOString() };
        return patched({}, { annotations })(name);
      },
      isEnd: ({ status }) => status?.sleep?.state === "awake" && status.sleep.cause === "request",
    },
    {
      name: "delete",
      leaves: true,
      given: async (name) => {
        await world.registry.register(name);
        await ready({ backend: { repository: name, branch: name } })(name);
      },
      act: (name) => world.delete(found(name)),
    },
  ];
}

/** A seed whose path names the environment, so that a read of it meets that one's faults. */
const seedInGit = (name: string) => ({ git: "backend", path: `/${name}/data.sql`, format: "sql" });

/** Groups of a copy, which its source has, too. */
const SHARED = { access: { groups: ["team"] } };
const copyOf = (name: string) => `${name}-copy`;

/** Requests a reconcile, which finds the renewed credential: nothing else triggers one. */
const RENEWED = "renewed";

const isSuspended = ({ status }: EphemeralEnvironment) =>
  findCondition(status?.conditions, "Suspended")?.status === "True";

const isAsleep = ({ status }: EphemeralEnvironment) =>
  status?.sleep?.state === "asleep" && findCondition(status.conditions, "Asleep")?.status === "True";

/** A minute half a day away: it sleeps at once. Woken by a request, it stays awake until every plan is over. */
function hoursFarFrom(now: Date): SleepWish {
  const timeOf = (ms: number) => new Date(now.getTime() + 12 * HOUR_MS + ms).toISOString().slice(11, 16);
  const schedule = { timeZone: "UTC", awake: [`Mon-Sun ${timeOf(0)}-${timeOf(MINUTE_MS)}`] };
  return { schedule, afterIdleMinutes: IDLE_MINUTES.maximum };
}

/** Users' actions, repeated while the API server is away. */
export function deeds({ world, observer, create }: FaultWorld) {
  const insisted = (name: string, change: () => Promise<unknown>) => {
    const isDone = () =>
      change().then(
        () => true,
        (error: unknown) => {
          if (!isUnavailable(error)) throw error;
        },
      );
    return until(isDone, { what: `the change of '${name}'`, ...READY });
  };
  return {
    insisted,
    ready:
      (spec: Partial<EnvironmentSpec> = {}) =>
      async (name: string) => {
        await create(name, { ...faultSpec(name), ...spec });
        await until(() => isReady(observer.environment(name)), { what: `'${name}' being ready`, ...READY });
      },
    patched: (spec: object, metadata: object = {}) => {
      const change = { spec, metadata };
      return (name: string) =>
        insisted(name, () => world.admin.patch(environmentType, { name }, change, { as: "merge" }));
    },
  };
}

const namespace = "ephemeral-system";

async function configure({ admin }: World, name: string): Promise<void> {
  await admin.create(configSetType, {
    metadata: { name, namespace },
    spec: { env: [{ name: "LEVEL", value: "one" }] },
  });
}

async function reconfigure({ admin }: World, name: string): Promise<void> {
  const spec = { env: [{ name: "LEVEL", value: "two" }] };
  await admin.patch(configSetType, { name, namespace }, { spec }, { as: "merge" });
}

/** Events of concurrent environments are written five a second (ADR 269), so an Event may come that much later. */
const QUIET_MS = { writes: 1_000, events: 8_000, calls: 500 } as const;
export const READY = { deadlineMs: 60_000, everyMs: 25 };

/** @param reference the environment without faults */
export async function record(world: FaultWorld, part: Part, reference: string): Promise<RecordedLifecycle> {
  const { name, given, act, isEnd = () => true, leaves = false, reported: reports = () => [], slack = 0 } = part;
  const { field, observer } = world;
  field.arm(reference);
  await given?.(reference);
  if (given !== undefined) {
    await last("writes", world, reference);
    // Events may come later than the writes, and would be taken for those of this part.
    await last("events", world, reference);
    if (leaves) await probed(world, reference);
  }
  field.arm(reference);
  await act(reference);
  const isOver = () => {
    const found = observer.environment(reference);
    return leaves ? found === undefined : isReady(found) && isEnd(found as EphemeralEnvironment);
  };
  await until(isOver, { what: `the end of '${name}' without faults`, ...READY });
  await until(() => reports(reference).length === 0, READY).catch(() => undefined);
  expect(reports(reference)).toEqual([]);
  await last("writes", world, reference);
  const { writes, calls } = field.of(reference);
  const own = part.needsNoProbe ? calls.filter((call) => call !== PROBE) : calls;
  await last("events", world, reference);
  const { events } = field.of(reference);
  const made = observer.environment(reference);
  const replaced = made === undefined ? [] : observer.replaced(made).map((title) => title.replace(reference, "NAME"));
  const missing = leaves ? left(world) : unlike(world, reference, isEnd);
  return {
    name,
    act,
    given: given ?? (async () => undefined),
    writes: lastingWrites(writes) + slack,
    replaced,
    leaves,
    targets: [...new Set([...writes, ...own])].sort(),
    events,
    missing: (one) => [...missing(one), ...reports(one)],
  };
}

/** Waits for writes after the end, such as the removal of unreferenced objects, for Events, and for a reconcile's calls. */
async function last(of: keyof typeof QUIET_MS, { field }: FaultWorld, reference: string): Promise<void> {
  const isLast = unchangedFor(QUIET_MS[of], () => field.of(reference)[of].length);
  await until(isLast, { what: `the last of the ${of} of '${reference}'`, ...READY });
}

/**
 * Waits for the end of a reconcile that probes. The next one is a probe's interval later, so that none falls between the
 * arming and a deletion: its calls are none of a deletion.
 */
async function probed(world: FaultWorld, reference: string): Promise<void> {
  const probes = () => world.field.of(reference).calls.filter((call) => call === PROBE).length;
  const before = probes();
  await until(() => probes() > before, { what: `a probe of '${reference}'`, ...READY });
  await last("calls", world, reference);
}

export function isReady(found: EphemeralEnvironment | undefined): boolean {
  return found?.status?.phase === "ready" && found.status.observedGeneration === found.metadata.generation;
}

function unlike({ observer }: FaultWorld, reference: string, isEnd: Required<Part>["isEnd"]): Lifecycle["missing"] {
  const measure = observer.environment(reference) as EphemeralEnvironment;
  const form: NormalForm = normalForm(observer.inventory(measure), measure);
  const judge = (name: string, found: EphemeralEnvironment | undefined): readonly Violation[] => {
    if (found !== undefined && isReady(found) && isEnd(found)) return unlikeReference(observer, found, form);
    const what =
      found === undefined ? "it does not exist" : `it has not come to its end: ${JSON.stringify(found.status)}`;
    return [{ invariant: "I1", environment: name, what }];
  };
  /** Cached by the seen state: every environment is checked many times a second. */
  const judged = new Map<string, { readonly seen: string; readonly missing: readonly Violation[] }>();
  return (name) => {
    const found = observer.environment(name);
    const seen = found === undefined ? "" : `${found.metadata.uid} ${observer.changes(found)}`;
    const known = judged.get(name);
    if (known?.seen === seen) return known.missing;
    const missing = judge(name, found);
    judged.set(name, { seen, missing });
    return missing;
  };
}

function left({ observer }: FaultWorld): Lifecycle["missing"] {
  return (name): readonly Violation[] => {
    const found = observer.environment(name);
    if (found === undefined) return [];
    const titles = [...observer.inventory(found).keys()];
    return [{ invariant: "I3", environment: name, what: `left are ${titles.join(", ")}` }];
  };
}

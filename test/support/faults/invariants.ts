/**
 * Invariants under any fault, in the numbering of the project's fault model. `world-observer.ts` judges those that must be
 * seen at once (I4, I5, I12, I14), this module those of converged environments.
 */
import { isDeepStrictEqual } from "node:util";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { present } from "../../../crds/present.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import {
  type Identified,
  type Inventory,
  LABELLED_KINDS,
  titleOf,
} from "../fixtures/environment/environment-inventory.ts";
import { repeatedCredentials } from "../fixtures/repeated-credentials.ts";
import type { Course } from "./fault-field.ts";
import { isPassing, lastingWrites } from "./fault-plans.ts";
import { repositoryOf } from "./pull-requests/audience.ts";
import type { InvariantId, Observer, Violation } from "./world-observer.ts";

/** Maximum time from the end of a fault to the desired state. */
export const CONVERGENCE_MS = 30_000;

/** Objects of one environment without names, ids and times: equal for equal environments. */
export type NormalForm = Readonly<Record<string, unknown>>;

/** I1, I2, I4: the first difference between the environment and one without faults. */
export function unlikeReference(observer: Observer, environment: Identified, form: NormalForm): Violation[] {
  const { name, uid } = environment.metadata;
  const found = observer.environment(name);
  const violation = (invariant: InvariantId, what: string) => [{ invariant, environment: name, what }];
  if (found === undefined || found.metadata.uid !== uid) return violation("I1", "it does not exist");
  const { generation } = found.metadata;
  if (found.status?.observedGeneration !== generation) {
    return violation("I1", `generation ${found.status?.observedGeneration} was observed, not ${generation}`);
  }
  const inventory = observer.inventory(environment);
  const own = normalForm(inventory, environment);
  const titles = (one: NormalForm) => Object.keys(one).sort();
  if (!isDeepStrictEqual(titles(own), titles(form))) {
    return violation("I2", `it has ${titles(own).join(", ")}; without faults ${titles(form).join(", ")}`);
  }
  const different = difference(own, form);
  if (different !== undefined) return violation("I1", different);
  return mirrors(inventory, found) ? [] : violation("I4", "the pods' Secret has other values than the secret manager");
}

function difference(own: unknown, other: unknown, place = ""): string | undefined {
  if (isDeepStrictEqual(own, other)) return undefined;
  const areObjects = [own, other].every((one) => typeof one === "object" && one !== null);
  if (!areObjects) return `${place} is ${JSON.stringify(own)}; without faults ${JSON.stringify(other)}`;
  const [mine, theirs] = [own, other] as [Record<string, unknown>, Record<string, unknown>];
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const differences = keys.map((key) => difference(mine[key], theirs[key], `${place}.${key}`));
  return differences.find((one) => one !== undefined);
}

interface Allowed {
  /** Writes of a run without the fault. */
  readonly writes: number;
  /** Time from the fault's end to the desired state, on the operator's clock. */
  readonly convergedInMs: number;
}

/** I9: writes beyond those of a run without the fault, beyond the fault's allowance, and beyond what time makes. */
export function tooManyWrites(environment: string, course: Course, { writes, convergedInMs }: Allowed): Violation[] {
  const most = writes + (course.plan?.fault.moreWrites ?? 0) + writesByTime(course, convergedInMs);
  const lasting = lastingWrites(course.writes);
  if (lasting <= most) return [];
  const what = `${lasting} writes, at most ${most}: ${course.writes.join(", ")}`;
  return [{ invariant: "I9", environment, what }];
}

/** A deployer on a busy machine was seen to change its state at most that often. */
const STATE_EVERY_MS = 30_000;

/** Writes that time makes: intermediate statuses. */
function writesByTime({ writes }: Course, convergedInMs: number): number {
  return Math.min(Math.floor(convergedInMs / STATE_EVERY_MS), writes.filter(isPassing).length);
}

/** I3: objects with the UID of a missing environment. */
export async function orphans(admin: KubeClient): Promise<Violation[]> {
  const labelled = async (type: (typeof LABELLED_KINDS)[number]) => {
    const { items } = await admin.list(type, { labelSelector: ENVIRONMENT_UID_LABEL });
    return items.map((object) => ({ type, object }));
  };
  // Children first: an environment created meanwhile is then known.
  const children = (await Promise.all(LABELLED_KINDS.map(labelled))).flat();
  const living = new Set((await admin.list(environmentType)).items.map(({ metadata }) => metadata.uid));
  const suspects = children.filter(({ object }) => !living.has(object.metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? ""));
  // Children of an environment that was deleted between the two lists were deleted before it.
  const isThere = async ({ type, object }: (typeof suspects)[number]) =>
    (await admin.find(type, object.metadata))?.metadata.uid === object.metadata.uid;
  const areThere = await Promise.all(suspects.map(isThere));
  return suspects
    .filter((_, index) => areThere[index])
    .map(({ type, object }) => ({
      invariant: "I3",
      environment: object.metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? "",
      what: `${titleOf(type.kind, object)} in ${object.metadata.namespace ?? "the cluster"} is an orphan`,
    }));
}

/** I6: foreign objects, as bytes. */
export async function snapshot(
  admin: KubeClient,
  foreign: readonly {
    readonly type: (typeof LABELLED_KINDS)[number];
    readonly ref: { name: string; namespace?: string };
  }[],
): Promise<Map<string, string>> {
  const look = async ({ type, ref }: (typeof foreign)[number]) =>
    [`${type.kind}/${ref.name}`, JSON.stringify(await admin.find(type, ref))] as const;
  return new Map(await Promise.all(foreign.map(look)));
}

/** I7: forms of secret values that appear in any of the texts. */
export function leaks(values: ReadonlySet<string>, texts: readonly string[]): Violation[] {
  const shown = [...values].flatMap(formsOf).filter((form) => texts.some((text) => text.includes(form)));
  return shown.map((form) => ({ invariant: "I7", environment: "", what: `${form.slice(0, 4)}… is readable` }));
}

/** A value as it could appear: plain, encoded for a Secret, or for a URL or a form. */
function formsOf(value: string): string[] {
  const base64 = Buffer.from(value).toString("base64");
  const url = Buffer.from(value).toString("base64url");
  return [...new Set([value, base64.replace(/=+$/, ""), url, encodeURIComponent(value), encodeURIComponent(base64)])];
}

/** True when the current pods' Secret holds each variable in the status's version, as stored. */
function mirrors(inventory: Inventory, { status }: EphemeralEnvironment): boolean {
  const dataOf = (isOf: (title: string) => boolean) => {
    const found = [...inventory].find(([title]) => isOf(title))?.[1];
    return (found?.data ?? {}) as Record<string, string>;
  };
  const stored = dataOf((title) => title.startsWith("store/"));
  const pods = dataOf((title) => title === `Secret/${status?.podSecrets?.at(-1)}`);
  const expected = status?.secrets ?? [];
  // Other variables are composed of stored ones, such as a database's URL of its password.
  const isRight = ({ name, version }: { name: string; version: number }) => {
    const own = stored[`${name}.${version}`];
    const text = decoded(pods[name]);
    return own === undefined
      ? Object.values(stored).some((value) => text.includes(decoded(value)))
      : pods[name] === own;
  };
  return Object.keys(pods).length === expected.length && expected.every(isRight);
}

const decoded = (value = "") => Buffer.from(value, "base64").toString("utf8");

/** Objects of an environment by general title. */
export function normalForm(inventory: Inventory, { metadata: { name, uid } }: Identified): NormalForm {
  // Each pull request has its own Repository.
  const repository = repositoryOf(name);
  const general = (text: string) =>
    text
      .replaceAll(uid, "UID")
      .replaceAll(uid.slice(0, 8), "UID8")
      .replaceAll(name, "NAME")
      .replaceAll(repository, "REPOSITORY")
      .replaceAll(/NAME-[0-9a-f]{8}-/g, "NAME-UID8-")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replaceAll(/\b[0-9a-f]{40}\b/g, "COMMIT")
      .replaceAll(/\b[0-9a-f]{12}\b/g, "HASH");
  const entries = [...inventory].map(([title, object]) => [general(title), JSON.parse(general(lasting(object)))]);
  return Object.fromEntries(entries);
}

/** Omits the API server's bookkeeping, the values of variables, and others' reports. */
function lasting(object: WireObject): string {
  const { labels, annotations, finalizers, deletionTimestamp } = object.metadata;
  const { metadata: _, data, status, ...fields } = object;
  // Annotations of the resource are its users', such as a requested reconcile.
  const kept = {
    labels,
    ...(isOurs(object) ? {} : { annotations }),
    finalizers,
    isLeaving: deletionTimestamp !== undefined,
  };
  const held = data === undefined ? {} : { data: heldBy(object) };
  return JSON.stringify({ ...fields, ...kept, ...held, ...(isOurs(object) ? { status: said(status) } : {}) });
}

/** Each environment has its own values of its variables; what images and charts are read with, equal ones have alike. */
function heldBy(object: WireObject): object {
  return repeatedCredentials(object) ?? Object.keys(object.data as object).sort();
}

const isOurs = ({ kind }: WireObject) => kind === environmentType.kind;

/**
 * Generations, requests and records vary with the number of requests; the observed generation and the reports are judged
 * elsewhere.
 */
function said(status: unknown): object {
  const {
    observedGeneration: _,
    lastHandledReconcileAt: __,
    observedAuditId: ___,
    feedback: ____,
    announced: _____,
    conditions = [],
    sleeps,
    ...rest
  } = (status ?? {}) as NonNullable<EphemeralEnvironment["status"]>;
  return {
    ...rest,
    conditions: conditions.map(({ observedGeneration: ______, ...condition }) => condition),
    // What it used before is known only of one that was awake for more than a moment.
    ...present({ sleeps: sleeps?.map(({ awake: _______, ...sleep }) => sleep) }),
  };
}

import { createHash } from "node:crypto";
import { type EphemeralEnvironment, environmentKind } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt } from "../../../crds/environment/lifetime.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { createObjectCache } from "../../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../../operator/kit/cache/reflector.ts";
import { resourceQuotaKind, secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { type ResourceType, resourceType } from "../../../operator/kit/client/objects.ts";
import { equalJson } from "../../../operator/kit/equal-json.ts";
import type { Environments } from "../../../operator/ports/api/environments.ts";
import {
  type Identified,
  type Inventory,
  inventoryOf,
  LABELLED_KINDS,
  titleOf,
} from "../fixtures/environment/environment-inventory.ts";
import { repeatedCredentials } from "../fixtures/repeated-credentials.ts";
import { silentLog } from "../fixtures/silent-log.ts";
import { changedFields } from "./changed-fields.ts";

/** The invariants of `invariants.ts`, by their numbers. */
export type InvariantId = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I9" | "I10" | "I11" | "I12" | "I14";

export interface Violation {
  readonly invariant: InvariantId;
  readonly environment: string;
  readonly what: string;
}

/** One event about an object of an environment. */
export interface WorldChange {
  readonly environment: string;
  /** The name of the object in inventories. */
  readonly object: string;
  readonly verb: "created" | "changed" | "deleted";
  /** Changed fields, with old and new value; for a Secret's data, hashes. */
  readonly fields: readonly string[];
}

/**
 * Watches the world as an administrator, from before the first fault. It remembers everything, so that a value that changed
 * back, or an object that came too early, is known at the end.
 */
export interface Observer {
  environment(name: string): EphemeralEnvironment | undefined;
  /** Objects with the environment's UID, including the resource itself. */
  inventory(environment: Identified): Inventory;
  /** The number of events about the environment and its objects, without the counts in its quotas. */
  changes(environment: Identified): number;
  /** Records the changes of `changes` for all environments; the returned function ends that, and answers them. */
  noteChanges(): () => readonly WorldChange[];
  /** Objects of the environment that were replaced by another one of the same name. */
  replaced(environment: Identified): readonly string[];
  /** Marks the environment's deletion as requested: its secrets may go. */
  mayGo(environment: Identified): void;
  /** Reads as clients of an operator do, until the returned function ends it: states must never go back. */
  readThrough(environments: Environments): () => void;
  /** Secret values that were ever in a store, in a pods' Secret or in a pull Secret, as text. */
  readonly secretValues: ReadonlySet<string>;
  /** Violations so far; pending checks are awaited. */
  violations(): Promise<readonly Violation[]>;
  stop(): Promise<void>;
}

const READ_EVERY_MS = 50;
const OBSERVED = [resourceType<WireObject>(environmentKind), ...LABELLED_KINDS];

/** Begins to watch; resolves when all existing objects are read. */
export async function observeWorld(admin: KubeClient): Promise<Observer> {
  const memory = new Memory(admin);
  const views = OBSERVED.map((type) => {
    const cache = createObjectCache<WireObject>();
    const reflector = createReflector({ client: admin, type, cache, log: silentLog });
    cache.subscribe((_key, current, previous) => memory.saw(type, current, previous));
    reflector.start();
    return { cache, reflector };
  });
  await Promise.all(views.map(({ cache }) => cache.whenSynced(AbortSignal.timeout(20_000))));
  return {
    environment: (name) => views[0]?.cache.get(name) as unknown as EphemeralEnvironment | undefined,
    inventory: ({ metadata }) => memory.inventory(metadata.uid),
    changes: ({ metadata }) => memory.changes.get(metadata.uid) ?? 0,
    noteChanges: () => memory.noteChanges(),
    replaced: ({ metadata }) => memory.replaced(metadata.uid),
    mayGo: ({ metadata }) => memory.leaving.add(metadata.uid),
    readThrough(environments) {
      const timer = setInterval(() => memory.read(environments), READ_EVERY_MS);
      return () => clearInterval(timer);
    },
    secretValues: memory.values,
    async violations() {
      await Promise.all(memory.looks);
      return memory.violations;
    },
    async stop() {
      await Promise.all(views.map(({ reflector }) => reflector.stop()));
      await Promise.all(memory.looks);
    },
  };
}

const uidOf = ({ kind, metadata }: WireObject) =>
  kind === environmentKind.kind ? metadata.uid : (metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? "");

function valuesOf({ data = {} }: WireObject): Record<string, string> {
  const entries = Object.entries(data as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}

/**
 * True when only a quota's status differs. Kubernetes' own controller writes it for all quotas at once every five minutes
 * (`--resource-quota-sync-period`): long after convergence, a count may be corrected.
 */
function isOnlyCounted(current: WireObject | undefined, previous: WireObject | undefined): boolean {
  if (current?.kind !== resourceQuotaKind.kind || previous === undefined) return false;
  return equalJson(withoutCounts(current), withoutCounts(previous));
}

function withoutCounts({ metadata, ...rest }: WireObject): object {
  return {
    ...rest,
    status: undefined,
    metadata: { ...metadata, resourceVersion: undefined, managedFields: undefined },
  };
}

function changeOf(
  object: string,
  current: WireObject | undefined,
  previous: WireObject | undefined,
): Omit<WorldChange, "environment"> {
  if (current === undefined) return { object, verb: "deleted", fields: [] };
  if (previous === undefined) return { object, verb: "created", fields: [] };
  const readable = ({ metadata, data, ...rest }: WireObject) => ({
    ...rest,
    metadata: { ...metadata, resourceVersion: undefined },
    data: current.kind === secretKind.kind ? hashOf(JSON.stringify(data)) : data,
  });
  return { object, verb: "changed", fields: changedFields(readable(previous), readable(current)) };
}

const hashOf = (value = "") => createHash("sha256").update(value).digest("hex");

class Memory {
  readonly changes = new Map<string, number>();
  readonly leaving = new Set<string>();
  readonly values = new Set<string>();
  readonly violations: Violation[] = [];
  readonly looks: Promise<void>[] = [];
  readonly #notebooks = new Set<WorldChange[]>();
  readonly #admin: KubeClient;
  readonly #objects = new Map<string, Map<string, WireObject>>();
  /** `<uid> <object>` → every UID of the object. */
  readonly #uids = new Map<string, Set<string>>();
  /** `<uid> <object>/<key>` → the hash of its first value. */
  readonly #firstSeen = new Map<string, string>();
  /** The last read metadata, by reader and UID. */
  readonly #read = new WeakMap<Environments, Map<string, EphemeralEnvironment["metadata"]>>();

  constructor(admin: KubeClient) {
    this.#admin = admin;
  }

  inventory(uid: string): Inventory {
    return new Map(this.#objects.get(uid));
  }

  replaced(uid: string): readonly string[] {
    const prefix = `${uid} `;
    const several = [...this.#uids].filter(([place, uids]) => place.startsWith(prefix) && uids.size > 1);
    return several.map(([place]) => place.slice(prefix.length));
  }

  saw(type: ResourceType<WireObject>, current: WireObject | undefined, previous: WireObject | undefined): void {
    const object = (current ?? previous) as WireObject;
    const uid = uidOf(object);
    if (uid === "") return;
    const known = this.#objects.get(uid) ?? new Map<string, WireObject>();
    this.#objects.set(uid, known);
    const title = titleOf(type.kind, object);
    if (!isOnlyCounted(current, previous)) this.#count(uid, title, current, previous);
    const place = `${uid} ${title}`;
    this.#uids.set(place, (this.#uids.get(place) ?? new Set()).add(object.metadata.uid));
    if (current === undefined) known.delete(title);
    else known.set(title, current);
    if (type.kind === secretKind.kind) this.#sawSecret(uid, title, object, current === undefined);
    if (type.kind === environmentKind.kind) this.#sawEnvironment(current, previous);
  }

  noteChanges(): () => readonly WorldChange[] {
    const notebook: WorldChange[] = [];
    this.#notebooks.add(notebook);
    return () => {
      this.#notebooks.delete(notebook);
      return notebook;
    };
  }

  #count(uid: string, title: string, current: WireObject | undefined, previous: WireObject | undefined): void {
    this.changes.set(uid, (this.changes.get(uid) ?? 0) + 1);
    if (this.#notebooks.size === 0) return;
    const change = { environment: this.#nameOf(uid), ...changeOf(title, current, previous) };
    for (const notebook of this.#notebooks) notebook.push(change);
  }

  /** Clients of one process never read an older version of an environment than before. */
  read(environments: Environments): void {
    const before = this.#read.get(environments) ?? new Map<string, EphemeralEnvironment["metadata"]>();
    this.#read.set(environments, before);
    for (const { metadata } of environments.list()) {
      const last = before.get(metadata.uid);
      before.set(metadata.uid, metadata);
      if (last === undefined || Number(metadata.resourceVersion) >= Number(last.resourceVersion)) continue;
      const what = `version ${metadata.resourceVersion} was read after ${last.resourceVersion}`;
      this.#violated("I14", metadata.name, what);
    }
  }

  #violated(invariant: InvariantId, environment: string, what: string): void {
    this.violations.push({ invariant, environment, what });
  }

  #sawSecret(uid: string, title: string, object: WireObject, isRemoved: boolean): void {
    const isStore = title.startsWith("store/");
    if (isRemoved && isStore && !this.leaving.has(uid)) {
      this.#violated("I4", this.#nameOf(uid), `the secret manager's entry was removed while the environment lives`);
    }
    const repeated = repeatedCredentials(object);
    const values = repeated ?? valuesOf(object);
    for (const value of Object.values(values)) this.values.add(value);
    // Credentials of images and charts are those that the secret manager holds by now, whatever it held at first.
    if (repeated === undefined) this.#judgeValues(uid, title, values);
  }

  #judgeValues(uid: string, title: string, values: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(values)) {
      const place = `${uid} ${title}/${key}`;
      const hash = hashOf(value);
      const first = this.#firstSeen.get(place) ?? hash;
      this.#firstSeen.set(place, first);
      if (first !== hash) this.#violated("I4", this.#nameOf(uid), `${title}/${key} has another value than at first`);
    }
  }

  #nameOf(uid: string): string {
    const objects = [...(this.#objects.get(uid)?.keys() ?? [])];
    return objects.find((title) => title.startsWith("EphemeralEnvironment/"))?.split("/")[1] ?? uid;
  }

  #sawEnvironment(current: WireObject | undefined, previous: WireObject | undefined): void {
    const [now, before] = [current, previous] as unknown as [EphemeralEnvironment?, EphemeralEnvironment?];
    if (now === undefined) {
      if (before !== undefined) this.looks.push(this.#lookAfter(before));
      return;
    }
    this.#judgeLifetime(now, before);
  }

  #judgeLifetime(now: EphemeralEnvironment, before: EphemeralEnvironment | undefined): void {
    const { name, uid, deletionTimestamp } = now.metadata;
    const reported = now.status?.expiresAt;
    // The shown expiry is always created + TTL: no reconcile, crash or restart may shift it.
    const promised = expiresAt({ ...now, spec: { ...now.spec, ttlHours: now.status?.ttlHours } as never });
    if (reported !== undefined && reported !== promised.toISOString()) {
      this.#violated("I5", name, `its expiry is ${reported}, created + TTL is ${promised.toISOString()}`);
    }
    const isLowered = (now.spec.ttlHours ?? 24) < (before?.spec.ttlHours ?? 24);
    if (
      reported !== undefined &&
      !isLowered &&
      reported < (before?.status?.expiresAt ?? "") &&
      before?.metadata.uid === uid
    ) {
      this.#violated("I5", name, `its expiry moved back from ${before.status?.expiresAt} to ${reported}`);
    }
    const isEarly = deletionTimestamp !== undefined && !this.leaving.has(uid) && reported !== undefined;
    if (isEarly && deletionTimestamp < reported) this.#violated("I5", name, "it was deleted before its time");
  }

  /** The resource is the last to go: an object found after it means that a finalizer was removed too early. */
  async #lookAfter(environment: EphemeralEnvironment): Promise<void> {
    const left = [...(await inventoryOf(this.#admin, environment)).keys()];
    if (left.length > 0) this.#violated("I12", environment.metadata.name, `it went before ${left.join(", ")}`);
  }
}

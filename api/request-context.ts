import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

/** What a caller's own id may look like; anything else could forge log lines or headers and is replaced. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** An object that a request is about, as it was found or made. */
export interface Concerned {
  readonly name: string;
  readonly uid: string;
}

interface RequestScope {
  readonly requestId: string;
  /** Names the record of the request, and is written on what it changes; the caller has no say in it. */
  readonly auditId: string;
  readonly concerned: Map<string, Concerned>;
}

const storage = new AsyncLocalStorage<RequestScope>();

/** The caller's id when it is harmless, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && ACCEPTABLE.test(header) ? header : randomUUID();
}

/** Runs the rest of a request so that the functions below find what belongs to it. */
export function inRequestScope<T>(requestId: string, run: () => T): T {
  return storage.run({ requestId, auditId: randomUUID(), concerned: new Map() }, run);
}

/** The id of the request that is being served; `undefined` outside of one. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
}

/** The id under which the request that is being served is recorded; `undefined` outside of one. */
export function currentAuditId(): string | undefined {
  return storage.getStore()?.auditId;
}

/** Has the record of the request name the object, by the UID that tells it from a namesake; gives the object back. */
export function concerning<T extends { readonly metadata: Concerned }>(object: T): T {
  const { name, uid } = object.metadata;
  storage.getStore()?.concerned.set(uid, { name, uid });
  return object;
}

/** The objects that the request has named so far. */
export function concernedSoFar(): readonly Concerned[] {
  return [...(storage.getStore()?.concerned.values() ?? [])];
}

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { withLogFacts } from "../operator/ports/log.ts";
import type { Caller } from "./auth/access.ts";
import type { Contract, Version } from "./route.ts";

/** What a caller's own id may look like; anything else could forge log lines or headers and is replaced. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** An object that a request is about, as it was found or made. */
export interface AuditObject {
  readonly name: string;
  readonly uid: string;
}

/** Everything that is known of the request that is being served, learned step by step: its ids, its caller, its audit. */
export interface RequestContext {
  readonly requestId: string;
  /** Names the audit record, and is written on what the request changes; the caller has no say in it. */
  readonly auditId: string;
  /** The client's address, as the trusted proxies tell it. */
  readonly address: string | undefined;
  /** The contract of the route that serves it; undefined where no route does. */
  contract: Contract | undefined;
  /** The version of that route, version 1 where no route serves it. */
  version: Version;
  caller: Caller | undefined;
  /** The subject of the person for whom a signed link acts; undefined where no link does. */
  linkOwner: string | undefined;
  /** Whether it brought a credential that was refused. */
  isCredentialRefused: boolean;
  /** What it is about, as the caller named it. */
  auditTarget: string | undefined;
  /** The caller's reason for it. */
  auditReason: string | undefined;
  /** The objects that it found or made so far, by UID. */
  readonly auditObjects: Map<string, AuditObject>;
  isRecorded: boolean;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The caller's id when it is harmless, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && ACCEPTABLE.test(header) ? header : randomUUID();
}

/**
 * Serves a request: whatever `serve` does, also later, finds its context by the functions below, and every line that is
 * written meanwhile carries the request's id.
 */
export function runRequest(request: Pick<RequestContext, "requestId" | "address">, serve: () => void): void {
  const unknown = {
    contract: undefined,
    version: "v1" as const,
    caller: undefined,
    linkOwner: undefined,
    auditTarget: undefined,
    auditReason: undefined,
  };
  const audit = { auditId: randomUUID(), auditObjects: new Map(), isCredentialRefused: false, isRecorded: false };
  storage.run({ ...request, ...unknown, ...audit }, () => withLogFacts({ requestId: request.requestId }, serve));
}

/**
 * The context of the request that is being served.
 *
 * @throws Error outside of one
 */
export function currentRequest(): RequestContext {
  const context = storage.getStore();
  if (context === undefined) throw new Error("no request is being served");
  return context;
}

/** The id under which the request that is being served is recorded; `undefined` outside of one. */
export function currentAuditId(): string | undefined {
  return storage.getStore()?.auditId;
}

/** Adds an object to the audit record of the request, by the UID that tells it from a namesake; gives the object back. */
export function addAuditObject<T extends { readonly metadata: AuditObject }>(object: T): T {
  const { name, uid } = object.metadata;
  storage.getStore()?.auditObjects.set(uid, { name, uid });
  return object;
}

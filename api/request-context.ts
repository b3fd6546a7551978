import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { withLogFacts } from "../operator/kit/log.ts";
import type { Caller } from "./auth/access.ts";
import type { Contract, Version } from "./route.ts";

/** Form of a caller's own id; any other could forge log lines or headers and is replaced. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

/** An object of a request, found or made. */
export interface AuditObject {
  readonly name: string;
  readonly uid: string;
}

/** Facts about the current request, collected step by step. */
export interface RequestContext {
  readonly requestId: string;
  /** Id of the audit record, also written on changed objects; callers can't choose it. */
  readonly auditId: string;
  /** Address of the client, by the trusted proxies. */
  readonly address: string | undefined;
  /** Contract of the route; undefined without one. */
  contract: Contract | undefined;
  /** Version of that route; version 1 without one. */
  version: Version;
  caller: Caller | undefined;
  /** Person for whom a signed link acts; undefined without a link. */
  linkOwner: string | undefined;
  /** True when its credential was refused. */
  isCredentialRefused: boolean;
  /** Target in the caller's words. */
  auditTarget: string | undefined;
  /** Reason in the caller's words. */
  auditReason: string | undefined;
  /** Found or made objects, by UID. */
  readonly auditObjects: Map<string, AuditObject>;
  isRecorded: boolean;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Id from the caller when it is harmless, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && ACCEPTABLE.test(header) ? header : randomUUID();
}

/**
 * Serves a request: `serve` and its continuations find its context by the functions below, and their log lines carry
 * the request's id.
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
 * Context of the current request.
 *
 * @throws Error outside of one
 */
export function currentRequest(): RequestContext {
  const context = storage.getStore();
  if (context === undefined) throw new Error("no request is being served");
  return context;
}

/** Id of the current audit record; `undefined` outside of a request. */
export function currentAuditId(): string | undefined {
  return storage.getStore()?.auditId;
}

/** Adds an object to the audit record, by UID, because names are reused; returns the object. */
export function addAuditObject<T extends { readonly metadata: AuditObject }>(object: T): T {
  const { name, uid } = object.metadata;
  storage.getStore()?.auditObjects.set(uid, { name, uid });
  return object;
}

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

/** What a caller's own id may look like; anything else could forge log lines or headers and is replaced. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{1,64}$/;

const storage = new AsyncLocalStorage<string>();

/** The caller's id when it is harmless, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && ACCEPTABLE.test(header) ? header : randomUUID();
}

/** Runs the rest of a request so that `currentRequestId` finds its id. */
export function withRequestId<T>(id: string, run: () => T): T {
  return storage.run(id, run);
}

/** The id of the request that is being served; `undefined` outside of one. */
export function currentRequestId(): string | undefined {
  return storage.getStore();
}

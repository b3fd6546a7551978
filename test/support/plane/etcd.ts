import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import pLimit from "p-limit";
import { until } from "../fixtures/until.ts";

/** A key of etcd with the version of its value; etcd's JSON has bytes as base64 and numbers as text. */
interface Entry {
  readonly key: string;
  readonly mod_revision: string;
  readonly value?: string;
}

/** A cluster's complete state at one moment. */
export interface EtcdSnapshot {
  /** Restores the state in etcd; the API server sees it as any other change. */
  restore(): Promise<void>;
}

/** An operation of one of etcd's transactions. */
interface Operation {
  readonly request_put?: { readonly key: string; readonly value?: string | undefined };
  readonly request_delete_range?: { readonly key: string };
}

/** Concurrent writes to etcd. */
const AT_ONCE = 16;
/** Controllers still work on what the last tests left, and write again during the restore: in the end they have no work. */
const DEADLINE_MS = 60_000;
/** State of the API server itself: its leases, and its served groups, which follow the kinds a moment later. */
const ITS_OWN = ["/registry/leases/kube-system/", "/registry/apiregistration.k8s.io/"];

/** Reads the current state of etcd. @param socket etcd's, started with its gateway */
export async function snapshotOf(socket: string): Promise<EtcdSnapshot> {
  const before = new Map((await entries(socket, "whole")).map((entry) => [entry.key, entry]));
  const versions = new Map([...before].map(([key, { mod_revision }]) => [key, mod_revision]));

  /** Operations that undo the differences. */
  async function differences(): Promise<readonly Operation[]> {
    const now = new Map((await entries(socket, "keys")).map(({ key, mod_revision }) => [key, mod_revision]));
    const added = [...now.keys()].filter((key) => !before.has(key) && !isItsOwn(key));
    const changed = [...before].filter(([key]) => now.get(key) !== versions.get(key) && !isItsOwn(key));
    return [
      ...added.map((key) => ({ request_delete_range: { key } })),
      ...changed.map(([key, { value }]) => ({ request_put: { key, value } })),
    ];
  }

  /**
   * Makes a revision of one operation, as the API server does, and records it for the next comparison. A watcher that
   * reconnects continues after the last revision of which it has an event, so it would miss the rest of a larger one: a
   * controller then fills namespaces that are gone for ever.
   */
  async function write(operation: Operation): Promise<void> {
    const { header } = await ask<{ header: { revision: string } }>(socket, "/v3/kv/txn", { success: [operation] });
    if (operation.request_put !== undefined) versions.set(operation.request_put.key, header.revision);
  }

  return {
    async restore() {
      let last: readonly Operation[] = [];
      const inTurn = pLimit(AT_ONCE);
      const isAsBefore = async () => {
        last = await differences();
        await Promise.all(last.map((operation) => inTurn(write, operation)));
        return last.length === 0;
      };
      const what = () => `the rest of the cluster, as it was before ${last.map(keyOf).join(", ")} were written,`;
      await until(isAsBefore, { what, deadlineMs: DEADLINE_MS });
    },
  };
}

/**
 * Writes an object into etcd, for example with an old creation time; the API server sees it as any other change.
 *
 * @param path below /registry, such as `<group>/<plural>/<name>` of a custom kind
 */
export async function rewriteObject(
  socket: string,
  path: string,
  change: (object: { metadata: { creationTimestamp: string } }) => void,
): Promise<void> {
  const key = bytes(`/registry/${path}`);
  const { kvs: [found] = [] } = await ask<{ kvs?: readonly Entry[] }>(socket, "/v3/kv/range", { key });
  if (found?.value === undefined) throw new Error(`etcd has no /registry/${path}`);
  const object = JSON.parse(Buffer.from(found.value, "base64").toString("utf8"));
  change(object);
  // Concurrent writes are not overwritten.
  const compare = [{ key, target: "MOD", mod_revision: found.mod_revision }];
  const success = [{ request_put: { key, value: bytes(JSON.stringify(object)) } }];
  const { succeeded } = await ask<{ succeeded?: boolean }>(socket, "/v3/kv/txn", { compare, success });
  if (!succeeded) throw new Error(`/registry/${path} was changed meanwhile`);
}

/** @param key base64, as in etcd's JSON */
function isItsOwn(key: string): boolean {
  const text = textOf(key);
  return ITS_OWN.some((prefix) => text.startsWith(prefix));
}

/** Plain text, unlike in the operation. */
const keyOf = ({ request_put, request_delete_range }: Operation) =>
  textOf((request_put ?? request_delete_range)?.key ?? "");
const textOf = (key: string) => Buffer.from(key, "base64").toString("utf8");
const bytes = (key: string) => Buffer.from(key).toString("base64");

async function entries(socket: string, parts: "whole" | "keys"): Promise<readonly Entry[]> {
  const all = { key: bytes("/registry/"), range_end: bytes("/registry0") };
  const reply = await ask<{ kvs?: readonly Entry[] }>(socket, "/v3/kv/range", {
    ...all,
    keys_only: parts === "keys",
  });
  return reply.kvs ?? [];
}

async function ask<R>(socketPath: string, path: string, question: object): Promise<R> {
  // No connection is kept: etcd may be killed before the next request.
  const requested = request({ socketPath, path, agent: false, method: "POST", signal: AbortSignal.timeout(60_000) });
  requested.end(JSON.stringify(question));
  const [reply] = (await once(requested, "response")) as [IncomingMessage];
  const answer = await json(reply);
  if (reply.statusCode !== 200) throw new Error(`etcd answered ${reply.statusCode}: ${JSON.stringify(answer)}`);
  return answer as R;
}

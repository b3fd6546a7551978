import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * The entries of one environment in etcd, to be copied for others: ten thousand complete environments in a minute, instead
 * of most of an hour by the API server.
 *
 * Built-in kinds are stored as protocol buffers, which count the bytes of every text: a copy's name must be as long as the
 * pattern's, as UIDs always are.
 */
export interface Pattern {
  /** Makes copies of these names, as old as the pattern. */
  copyTo(names: readonly string[]): Promise<void>;
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** etcd accepts 128 operations and 1.5 MiB at a time. */
const OPERATIONS = 100;
const REQUESTS_AT_ONCE = 4;

/**
 * @param etcd its socket, started with its gateway
 * @param name of a ready environment; no other name may begin with it
 * @param isSelected selects its keys; default: all
 */
export async function patternOf(
  etcd: string,
  name: string,
  isSelected: (key: string) => boolean = () => true,
): Promise<Pattern> {
  const all = await entries(etcd);
  const own = all.filter(({ key }) => isSelected(key) && (key.includes(`/${name}`) || key.includes(`/env-${name}`)));
  return {
    async copyTo(names) {
      const wrong = names.find((other) => other.length !== name.length);
      if (wrong !== undefined) throw new TypeError(`'${wrong}' is not as long as '${name}'`);
      const each = Math.floor(OPERATIONS / own.length);
      const batches = Array.from({ length: Math.ceil(names.length / each) }, (_, index) =>
        names.slice(index * each, (index + 1) * each),
      );
      const next = batches.values();
      const worker = async () => {
        for (const batch of next)
          await put(
            etcd,
            batch.flatMap((other) => copied(own, name, other)),
          );
      };
      await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, worker));
    },
  };
}

function copied(own: readonly Entry[], name: string, other: string): readonly Entry[] {
  const uids = new Map<string, string>();
  const uidFor = (uid: string) => {
    const known = uids.get(uid) ?? randomUUID();
    uids.set(uid, known);
    return known;
  };
  const renamed = own.map(({ key, value }) => ({
    key: key.replaceAll(name, other),
    value: value.replaceAll(name, other).replaceAll(UUID, uidFor),
  }));
  // Entries of the secret manager are named by the beginning of a UID.
  const begun = [...uids].map(([uid, another]) => [`${other}-${uid.slice(0, 8)}`, `${other}-${another.slice(0, 8)}`]);
  const replaced = (text: string) => begun.reduce((done, [from = "", to = ""]) => done.replaceAll(from, to), text);
  return renamed.map(({ key, value }) => ({ key: replaced(key), value: replaced(value) }));
}

const encoded = (text: string) => Buffer.from(text, "latin1").toString("base64");
const decoded = (text: string) => Buffer.from(text, "base64").toString("latin1");

async function entries(etcd: string): Promise<readonly Entry[]> {
  // From this key to the first after all with this prefix.
  const range = { key: encoded("/registry/"), range_end: encoded("/registry0") };
  const { kvs = [] } = (await call(etcd, "range", range)) as { kvs?: readonly Entry[] };
  return kvs.map(({ key, value }) => ({ key: decoded(key), value: decoded(value) }));
}

async function put(etcd: string, puts: readonly Entry[]): Promise<void> {
  const success = puts.map(({ key, value }) => ({ request_put: { key: encoded(key), value: encoded(value) } }));
  await call(etcd, "txn", { success });
}

/** https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
async function call(etcd: string, method: "range" | "txn", body: object): Promise<unknown> {
  const question = request({ socketPath: etcd, path: `/v3/kv/${method}`, method: "POST" }).end(JSON.stringify(body));
  const [answer] = (await once(question, "response")) as [IncomingMessage];
  const said = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`etcd answered ${answer.statusCode}: ${said}`);
  return JSON.parse(said);
}

import { secretEntryId } from "../../crds/names.ts";
import {
  type HeldOwner,
  type SecretManager,
  SecretManagerUnavailable,
  type SecretOwner,
  type SecretRequest,
  type StoredSecret,
} from "../ports/secret-manager.ts";
import { type GoogleCalls, type GoogleCallsOptions, type GoogleSecret, googleCalls } from "./google-secret-calls.ts";
import { addVersion, findVersion } from "./google-secret-versions.ts";

/** What Google lets a secret be called; anything else names none, and must not become another path. */
const SECRET_ID = /^[A-Za-z0-9_-]{1,255}$/;
/** Calls at a time for one environment: enough to hide the way to Google, few enough to leave room for others. */
const MOST_AT_ONCE = 8;

/** Label keys and values have no dots and slashes there; annotations say the same, and decide. */
const MANAGED_BY = "ephemeral-environments";
const UID = "environment-uid";
const NAME = "environment";

export interface GoogleSecretManagerOptions extends GoogleCallsOptions {
  /** Tells this installation's secrets from those of another one in the project; a label's value. */
  readonly installation: string;
  /** Regions that hold the values; none leaves the choice to Google. */
  readonly locations: readonly string[];
}

interface Context extends Pick<GoogleSecretManagerOptions, "installation" | "locations"> {
  readonly calls: GoogleCalls;
}

/**
 * Google Secret Manager: a secret a variable, called `<name>-<short UID>-<VARIABLE>`, whose annotation says whose it is.
 *
 * There is no expiry date on a secret as a net under the teardown: it would have to be moved, in time and without fail,
 * with every extension and every suspension, or Google would delete the values of a living environment for good.
 */
export function googleSecretManager({
  installation,
  locations,
  ...options
}: GoogleSecretManagerOptions): SecretManager {
  const calls = googleCalls(options);
  const context: Context = { calls, installation, locations };
  return {
    ensure: (owner, requests) => ensure(context, owner, requests),
    async remove(owner) {
      // No etag: lists lag behind, and neither the id nor the annotation of a secret is ever another environment's.
      await eachOf(await entriesOf(calls, owner), ({ name }) => calls.remove(name ?? ""));
    },
    holdsAny: async (owner) => (await entriesOf(calls, owner)).length > 0,
    async shared(id) {
      const found = await findShared(calls, id);
      return found && { labels: found.labels ?? {} };
    },
    async read(id, version) {
      const found = await findShared(calls, id);
      const accessed = found && (await calls.access(calls.nameOf(id), version));
      return accessed && { version: accessed.number, value: accessed.value };
    },
    owners: () => owners(context),
    close: () => calls.close(),
  };
}

async function ensure(context: Context, owner: SecretOwner, requests: readonly SecretRequest[]) {
  if (requests.length === 0) return new Map<string, StoredSecret>();
  const entries = await entriesOf(context.calls, owner);
  const byName = new Map(entries.map((secret) => [secret.name, secret]));
  const stored = await eachOf(requests, async (request) => {
    const listed = byName.get(context.calls.nameOf(secretEntryId(owner, request.name)));
    return [request.name, await ensureOne(context, owner, request, listed)] as const;
  });
  return new Map(stored.flatMap(([name, secret]) => (secret === undefined ? [] : [[name, secret] as const])));
}

/** Looks before it adds, always: adding can't be told to keep what is there. */
async function ensureOne(
  context: Context,
  owner: SecretOwner,
  { name, version, generate }: SecretRequest,
  listed: GoogleSecret | undefined,
): Promise<StoredSecret | undefined> {
  const secret = listed ?? (generate && (await make(context, owner, name)));
  if (secret === undefined) return undefined;
  const stored = await findVersion(context.calls, secret, version);
  if (stored !== undefined || generate === undefined) return stored;
  return addVersion(context.calls, secret, version, generate());
}

/** The secret of a variable: made, or found although the list did not show it yet. */
async function make({ calls, installation, locations }: Context, owner: SecretOwner, variable: string) {
  const id = secretEntryId(owner, variable);
  const created = await calls.create(id, {
    replication:
      locations.length === 0
        ? { automatic: {} }
        : { userManaged: { replicas: locations.map((location) => ({ location })) } },
    labels: { "managed-by": MANAGED_BY, installation, [NAME]: owner.name, [UID]: owner.uid },
    annotations: { [NAME]: owner.name, [UID]: owner.uid, variable },
  });
  const secret = created ?? (await calls.find(calls.nameOf(id)));
  if (secret === undefined) throw new SecretManagerUnavailable(`Google Secret Manager is making '${id}' just now`);
  if (!isOf(owner, secret)) throw new SecretManagerUnavailable(`the secret '${id}' belongs to somebody else`);
  return secret;
}

/** The owner's secrets; found by label, told by the annotation. */
async function entriesOf(calls: GoogleCalls, owner: SecretOwner): Promise<readonly GoogleSecret[]> {
  const labelled = await calls.list(`labels.${UID}=${owner.uid}`);
  return labelled.filter((secret) => isOf(owner, secret));
}

function isOf(owner: SecretOwner, { annotations }: GoogleSecret): boolean {
  return annotations?.[UID] === owner.uid;
}

/** A secret that is nobody's: neither its labels nor its annotations name an environment. */
async function findShared(calls: GoogleCalls, id: string): Promise<GoogleSecret | undefined> {
  if (!SECRET_ID.test(id)) return undefined;
  const found = await calls.find(calls.nameOf(id));
  return found?.labels?.[UID] === undefined && found?.annotations?.[UID] === undefined ? found : undefined;
}

async function owners({ calls, installation }: Context): Promise<readonly HeldOwner[]> {
  const secrets = await calls.list(`labels.managed-by=${MANAGED_BY} AND labels.installation=${installation}`);
  const held = new Map<string, HeldOwner>();
  for (const { annotations, labels, createTime } of secrets) {
    const { [UID]: uid, [NAME]: name } = annotations ?? {};
    // Whoever asks may delete what he is told of: an entry that is not whole is nobody's.
    if (uid === undefined || name === undefined || labels?.[UID] !== uid || !createTime?.seconds) continue;
    const since = new Date(Number(createTime.seconds) * 1000);
    const known = held.get(uid);
    if (known === undefined || since < known.since) held.set(uid, { name, uid, since });
  }
  return [...held.values()];
}

/** Works on all, a few at a time; the first failure is the answer, once what was begun has ended. */
async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let index = 0; index < items.length; index += MOST_AT_ONCE) {
    const settled = await Promise.allSettled(items.slice(index, index + MOST_AT_ONCE).map(work));
    for (const outcome of settled) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}

import { secretEntryId } from "../../../crds/names.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { Owner } from "../../ports/cluster.ts";
import { type SecretManager, SecretManagerUnavailable, type SecretRequest } from "../../ports/secret-manager.ts";
import { type GoogleCalls, type GoogleCallsOptions, type GoogleSecret, googleCalls } from "./secret-calls.ts";
import { type Candidates, createCandidates, NAME, UID } from "./secret-owners.ts";
import { addVersion, findVersion } from "./secret-versions.ts";

/** Google's rule for names; anything else names none, and must not become another path. */
const SECRET_ID = /^[A-Za-z0-9_-]{1,255}$/;
/** Concurrent calls per environment: enough to hide latency, few enough for other environments. */
const MOST_AT_ONCE = 8;
const MANAGED_BY = "ephemeral-environments";

/** Deadline of all calls of one piece of work: a waiting reconcile blocks a worker. */
const WORK_MS = 10_000;

export interface GoogleSecretManagerOptions extends GoogleCallsOptions {
  /** Label value that distinguishes installations in the project. */
  readonly installation: () => Promise<string>;
  /** Regions of the values; empty: Google's choice. */
  readonly locations: readonly string[];
}

/** One piece of work. */
interface Work extends Pick<GoogleSecretManagerOptions, "installation" | "locations"> {
  readonly calls: GoogleCalls;
  readonly candidates: Candidates;
}

/**
 * Google Secret Manager: one secret per variable, called `<name>-<short UID>-<VARIABLE>`, with its owner in an
 * annotation.
 *
 * Google's lists may lag for hours in both directions
 * (https://cloud.google.com/secret-manager/docs/reference/consistency). So computable ids are read directly, and a list
 * only names further candidates, each read before it counts.
 *
 * Secrets have no expiry date as a safety net: unless it moved in time with every extension and suspension, Google
 * would delete the values of a living environment for good.
 */
export function googleSecretManager({
  installation,
  locations,
  ...options
}: GoogleSecretManagerOptions): SecretManager {
  const { breaker, clock, connection } = options;
  // While Google is away, one piece of work at a time tests it, and all others fail at once.
  const perform = <R>(run: (calls: GoogleCalls) => Promise<R>, withinMs = WORK_MS) =>
    breaker.run(() => run(googleCalls(options, clock.monotonicMs() + withinMs)));
  const candidates = createCandidates();
  const within = <R>(run: (work: Work) => Promise<R>) =>
    perform((calls) => run({ calls, installation, locations, candidates }));
  return {
    async ensure(owner, requests) {
      if (requests.length === 0) return new Map();
      return within((work) => ensure(work, owner, requests));
    },
    remove: (owner, variables) => within((work) => remove(work, owner, variables)),
    holdsAny: (owner, variables) => within(async (work) => (await entriesOf(work, owner, variables)).length > 0),
    shared: (id) =>
      within(async ({ calls }) => {
        const found = await findShared(calls, id);
        return found && { labels: found.labels ?? {} };
      }),
    read: (id, version) =>
      within(async ({ calls }) => {
        // The secret itself is not read: Google admits 90,000 accesses a minute, but 600 reads.
        const accessed = SECRET_ID.test(id) ? await calls.access(calls.nameOf(id), version) : undefined;
        return accessed && { version: accessed.number, value: accessed.value };
      }),
    // No deadline: the list may be long, and no reconcile waits for it.
    owners: (isKnown) =>
      perform(async (calls) => {
        const ours = `labels.managed-by=${MANAGED_BY} AND labels.installation=${await installation()}`;
        return candidates.owners(calls, await calls.list(ours), isKnown);
      }, Number.POSITIVE_INFINITY),
    close: () => connection.close(),
  };
}

async function ensure(work: Work, owner: Owner, requests: readonly SecretRequest[]) {
  const stored = await eachOf(
    MOST_AT_ONCE,
    requests,
    async (request) => [request.name, await ensureOne(work, owner, request)] as const,
  );
  return new Map(stored.flatMap(([name, secret]) => (secret === undefined ? [] : [[name, secret] as const])));
}

/** Reads first: an add can't keep an existing value. */
async function ensureOne(work: Work, owner: Owner, { name, version, generate }: SecretRequest) {
  const { calls } = work;
  const id = secretEntryId(owner, name);
  let found = await findOwn(calls, owner, id);
  if (found === undefined && generate !== undefined) {
    const created = await make(work, owner, name);
    if (created !== undefined) return addVersion(calls, created, version, generate());
    found = await findOwn(calls, owner, id);
  }
  // A missing secret may just have been created: only a version by its number is read from Google without delay. The id
  // contains the owner's UID, so the version is the owner's.
  const secret = found ?? (version === 1 ? { name: calls.nameOf(id) } : undefined);
  const stored = secret && (await findVersion(calls, secret, version));
  if (stored !== undefined || generate === undefined) return stored;
  if (secret === undefined) throw new SecretManagerUnavailable(`Google Secret Manager is making '${id}' just now`);
  return addVersion(calls, secret, version, generate());
}

/** Creates a variable's secret; `undefined` when it exists. */
async function make({ calls, installation, locations }: Work, owner: Owner, variable: string) {
  return calls.create(secretEntryId(owner, variable), {
    replication:
      locations.length === 0
        ? { automatic: {} }
        : { userManaged: { replicas: locations.map((location) => ({ location })) } },
    labels: {
      "managed-by": MANAGED_BY,
      installation: await installation(),
      [NAME]: owner.name,
      [UID]: owner.uid,
    },
    annotations: { [NAME]: owner.name, [UID]: owner.uid, variable },
  });
}

async function findOwn(calls: GoogleCalls, owner: Owner, id: string): Promise<GoogleSecret | undefined> {
  const found = await calls.find(calls.nameOf(id));
  if (found === undefined || isOf(owner, found)) return found;
  throw new SecretManagerUnavailable(`the secret '${id}' belongs to another owner`);
}

async function remove(work: Work, owner: Owner, variables: readonly string[]): Promise<void> {
  // No etag: id and annotation never become another environment's.
  await eachOf(MOST_AT_ONCE, await entriesOf(work, owner, variables), async (entry) => {
    await work.calls.remove(entry.name ?? "");
    work.candidates.deleted(entry);
  });
}

/** Existing secrets of the owner: of the given variables, and others from a list. */
async function entriesOf({ calls }: Work, owner: Owner, variables: readonly string[]) {
  const listed = (await calls.list(`labels.${UID}=${owner.uid}`)).filter((secret) => isOf(owner, secret));
  const computed = variables.map((variable) => calls.nameOf(secretEntryId(owner, variable)));
  const names = new Set([...computed, ...listed.map(({ name }) => name ?? "")]);
  const found = await eachOf(MOST_AT_ONCE, [...names], (name) => calls.find(name));
  return found.filter((secret) => secret !== undefined && isOf(owner, secret)) as GoogleSecret[];
}

const isOf = (owner: Owner, { annotations }: GoogleSecret): boolean => annotations?.[UID] === owner.uid;

/** A secret without an owner in labels or annotations. */
async function findShared(calls: GoogleCalls, id: string): Promise<GoogleSecret | undefined> {
  if (!SECRET_ID.test(id)) return undefined;
  const found = await calls.find(calls.nameOf(id));
  return found?.labels?.[UID] === undefined && found?.annotations?.[UID] === undefined ? found : undefined;
}

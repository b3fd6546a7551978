import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment, SecretStatus } from "../../../crds/ephemeral-environment.ts";
import { type Component, secretStoreName } from "../../../crds/names.ts";
import { DATABASE_PASSWORD, neededSecrets, type Repository, type WantedSecret } from "../../../crds/repository.ts";
import type { Unfinished } from "../step.ts";
import { DATABASE_URL, wantsDatabase } from "./database.ts";
import { secretProblem } from "./secret-problem.ts";
import { type Reference, type Variables, variablesOf } from "./variables.ts";

/** A value of the environment's own: made by us, or written into the secret manager by somebody else. */
export interface OwnSecret {
  readonly kind: "own";
  readonly name: string;
  readonly version: number;
  /** The rotation that this version answers. */
  readonly rotation?: string;
  /** What to make when there is none; absent where somebody else provides the value. */
  readonly generate?: WantedSecret;
}

/** A value that is read from elsewhere in the secret manager. */
export interface ReferredSecret {
  readonly kind: "shared" | "alias";
  readonly name: string;
  /** The id of a shared secret; of an alias the variable of this environment whose value it repeats. */
  readonly of: string;
  /** `latest` only until it is resolved: from then on the version is pinned. */
  readonly version: number | "latest";
  readonly rotation?: string;
  /** What was referred to, as `<id>@<key>`: another one is resolved anew. */
  readonly source: string;
  /** The version of the environment's own value that it stands in for. */
  readonly own?: number;
}

/** A value that is made of another one of the plan, and kept nowhere else. */
export interface DerivedSecret extends Omit<ReferredSecret, "kind"> {
  readonly kind: "derived";
}

/** One variable of the pods' Secret. */
export type PlannedSecret = OwnSecret | ReferredSecret | DerivedSecret;

/** What the pods' Secret holds, in the order of names; or what is wrong with what was asked for. */
export type SecretPlan =
  | { readonly secrets: readonly PlannedSecret[]; readonly problem?: undefined }
  | { readonly problem: Unfinished };

/** The shape of a value that is gone from the secret manager and that no Repository describes any more. */
const UNLISTED = { kind: "password", length: 32 } as const;

interface Plot {
  readonly environment: EphemeralEnvironment;
  readonly configSet: ConfigSetSpec | undefined;
  readonly variables: Variables;
  readonly hasDatabase: boolean;
  /** What the Repositories list, by variable, and what a database needs. */
  readonly listed: ReadonlyMap<string, WantedSecret>;
  readonly provided: ReadonlySet<string>;
  /** What the status holds; `undefined` before anything was planned. */
  readonly former: ReadonlyMap<string, SecretStatus> | undefined;
}

/**
 * Where the value of every secret variable comes from. A reference comes before a generated value; a value that
 * somebody provides comes before the config set's references. A variable that a Repository lists after the environment
 * was made does not reach it. With a database come its password, whenever that is, and its URL, unless somebody sets one.
 */
export function secretPlan(
  environment: EphemeralEnvironment,
  repositories: { readonly [component in Component]?: Repository },
  configSet?: ConfigSetSpec,
): SecretPlan {
  const { spec, status } = environment;
  const hasDatabase = wantsDatabase(spec, configSet);
  const listed = neededSecrets(Object.values(repositories), hasDatabase);
  const plot: Plot = {
    ...{ environment, configSet, hasDatabase },
    variables: variablesOf(environment, repositories, configSet),
    listed: new Map(listed.map((secret) => [secret.name, secret])),
    provided: new Set(spec.secrets?.provided),
    former: status?.secrets && new Map(status.secrets.map((secret) => [secret.name, secret])),
  };
  const references = winning(plot);
  const isDerived = hasDatabase && !references.has(DATABASE_URL) && !plot.provided.has(DATABASE_URL);
  const own = ownNames(plot).filter((name) => !references.has(name) && !(isDerived && name === DATABASE_URL));
  const planned = [
    ...own.map((name) => ownSecret(plot, name)),
    ...[...references].map(([name, reference]) => referredSecret(plot, name, reference)),
  ];
  const secrets = planned.sort((one, other) => (one.name < other.name ? -1 : 1));
  const required = generates(plot) ? [] : known(plot, plot.listed.keys());
  const problem = secretProblem({ ...plot, required, planned: new Set(secrets.map(({ name }) => name)) });
  if (problem !== undefined) return { problem };
  return { secrets: isDerived ? withDatabaseUrl(settled(secrets), plot) : settled(secrets) };
}

/**
 * A plan as the status keeps it, with the versions that were found. What is not resolved has the version 0, which
 * nothing has.
 */
export function plannedStatus(
  plan: readonly PlannedSecret[],
  found: ReadonlyMap<string, { readonly version: number }> = new Map(),
): SecretStatus[] {
  return plan.map((secret) => ({
    name: secret.name,
    version: found.get(secret.name)?.version ?? (secret.version === "latest" ? 0 : secret.version),
    ...rotation(secret.rotation),
    ...(secret.kind === "own" ? {} : standIn(secret)),
  }));
}

const standIn = ({ source, own }: ReferredSecret | DerivedSecret) => ({
  source,
  ...(own === undefined ? {} : { own }),
});

/** The references that count; a provided value beats what a config set refers to. */
function winning({ variables, provided }: Plot): ReadonlyMap<string, Reference> {
  return new Map(
    [...variables.references].filter(([name, { origin }]) => origin === "override" || !provided.has(name)),
  );
}

function ownNames(plot: Plot): string[] {
  const { listed, provided, former } = plot;
  if (!generates(plot)) return [...provided];
  const kept = [...(former?.values() ?? [])]
    .filter((secret) => ownVersion(secret) !== undefined)
    .map(({ name }) => name);
  return [...new Set([...known(plot, listed.keys()), ...kept, ...provided])];
}

const generates = ({ environment }: Plot) => environment.spec.secrets?.autoGenerate !== false;

/** Those that the environment was made with; a database may come later. */
const known = ({ former, hasDatabase }: Plot, names: Iterable<string>) =>
  [...names].filter((name) => (former?.has(name) ?? true) || (hasDatabase && name === DATABASE_PASSWORD));

function ownSecret({ environment, listed, provided, former }: Plot, name: string): OwnSecret {
  const before = former?.get(name);
  const version = ownVersion(before);
  const asked = environment.spec.secrets?.rotate?.[name];
  const generate = provided.has(name) ? {} : { generate: listed.get(name) ?? { name, ...UNLISTED } };
  if (before === undefined || version === undefined)
    return { kind: "own", name, version: 1, ...rotation(asked), ...generate };
  const next = isAskedAnew(asked, before) ? version + 1 : version;
  return { kind: "own", name, version: next, ...rotation(asked ?? before.rotation), ...generate };
}

/** The version of its own value, also while another one stands in for it: what was rotated away never comes back. */
function ownVersion(before: SecretStatus | undefined): number | undefined {
  return before?.source === undefined ? before?.version : before.own;
}

function referredSecret({ environment, former }: Plot, name: string, reference: Reference): ReferredSecret {
  const before = former?.get(name);
  const source = `${reference.name}@${reference.key}`;
  const asked = environment.spec.secrets?.rotate?.[name];
  const own = ownVersion(before);
  const isPinned = before?.source === source && !isAskedAnew(asked, before);
  return {
    ...referent(environment, reference),
    name,
    version: reference.key === "latest" ? (isPinned ? before.version : "latest") : Number(reference.key),
    ...rotation(asked ?? before?.rotation),
    source,
    ...(own === undefined ? {} : { own }),
  };
}

/** An id that begins as those of this environment do names one of its variables: nobody else's can be read by it. */
function referent({ metadata }: EphemeralEnvironment, { name }: Reference): Pick<ReferredSecret, "kind" | "of"> {
  const prefix = `${secretStoreName(metadata)}-`;
  return name.startsWith(prefix) ? { kind: "alias", of: name.slice(prefix.length) } : { kind: "shared", of: name };
}

const rotation = (asked: string | undefined) => (asked === undefined ? {} : { rotation: asked });

function isAskedAnew(asked: string | undefined, before: SecretStatus): boolean {
  return asked !== undefined && asked !== before.rotation;
}

/** As new as the password that it holds. */
function withDatabaseUrl(secrets: readonly PlannedSecret[], { former }: Plot): readonly PlannedSecret[] {
  const password = secrets.find(({ name }) => name === DATABASE_PASSWORD);
  if (password === undefined) return secrets;
  const own = ownVersion(former?.get(DATABASE_URL));
  const url: DerivedSecret = {
    ...{ kind: "derived", name: DATABASE_URL, of: DATABASE_PASSWORD, source: `${DATABASE_PASSWORD}@latest` },
    version: password.version,
    ...(own === undefined ? {} : { own }),
  };
  return [...secrets, url].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The newest value of one of its own is the one in force: an alias follows when that is rotated. */
function settled(secrets: readonly PlannedSecret[]): readonly PlannedSecret[] {
  return secrets.map((secret) => {
    if (secret.kind !== "alias" || !secret.source.endsWith("@latest")) return secret;
    const own = secrets.find(({ kind, name }) => kind === "own" && name === secret.of);
    return { ...secret, version: own?.version ?? "latest" };
  });
}

import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment, SecretStatus } from "../../../crds/environment/ephemeral-environment.ts";
import { type Component, secretStoreName } from "../../../crds/names.ts";
import {
  DATABASE_PASSWORD,
  neededSecrets,
  type Repository,
  type WantedSecret,
} from "../../../crds/repository/repository.ts";
import type { Unfinished } from "../step.ts";
import { DATABASE_URL, wantsDatabase } from "./database.ts";
import {
  type DerivedSecret,
  type OwnSecret,
  type PlannedSecret,
  type ReferredSecret,
  rotation,
} from "./planned-secret.ts";
import { secretProblem } from "./secret-problem.ts";
import { type Reference, type Variables, variablesOf } from "./variables.ts";

/** What the pods' Secret holds, in the order of names; or what is wrong with what was asked for. */
export type SecretPlan =
  | { readonly secrets: readonly PlannedSecret[]; readonly problem?: undefined }
  | { readonly problem: Unfinished };

/** The shape of a value that is gone from the secret manager and that no Repository describes any more. */
const UNLISTED = { kind: "password", length: 32 } as const;

type ComponentRepositories = { readonly [component in Component]?: Repository };

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
  repositories: ComponentRepositories,
  configSet?: ConfigSetSpec,
): SecretPlan {
  const plot = plotOf(environment, repositories, configSet);
  const { hasDatabase } = plot;
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

/** What the pods' Secret held before, as the status has it: what is to be kept while the new wish can't be granted. */
export function formerPlan(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  configSet?: ConfigSetSpec,
): readonly PlannedSecret[] {
  const plot = plotOf(environment, repositories, configSet);
  return [...(plot.former?.values() ?? [])].map(({ source, ...secret }) => {
    if (source === undefined) return { ...secret, kind: "own", ...generation(plot, secret.name) };
    if (secret.name === DATABASE_URL && source === URL_SOURCE) {
      return { ...secret, kind: "derived", of: DATABASE_PASSWORD, source };
    }
    return { ...secret, ...referent(environment, source.slice(0, source.lastIndexOf("@"))), source };
  });
}

function plotOf(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  configSet: ConfigSetSpec | undefined,
): Plot {
  const { spec, status } = environment;
  const hasDatabase = wantsDatabase(spec, configSet);
  const listed = neededSecrets(Object.values(repositories), hasDatabase);
  return {
    ...{ environment, configSet, hasDatabase },
    variables: variablesOf(environment, repositories, configSet),
    listed: new Map(listed.map((secret) => [secret.name, secret])),
    provided: new Set(spec.secrets?.provided),
    former: status?.secrets && new Map(status.secrets.map((secret) => [secret.name, secret])),
  };
}

/** The references that count; a provided value beats what a config set refers to. */
function winning({ variables, provided }: Plot): ReadonlyMap<string, Reference> {
  return new Map(
    [...variables.references].filter(([name, { origin }]) => origin === "override" || !provided.has(name)),
  );
}

function ownNames(plot: Plot): string[] {
  const { listed, provided, former } = plot;
  const made = generates(plot) ? known(plot, listed.keys()) : [];
  const kept = [...(former?.values() ?? [])]
    .filter((secret) => ownVersion(secret) !== undefined)
    .map(({ name }) => name);
  return [...new Set([...made, ...kept, ...provided])];
}

const generates = ({ environment }: Plot) => environment.spec.secrets?.autoGenerate !== false;

/** Those that the environment was made with; a database may come later. */
const known = ({ former, hasDatabase }: Plot, names: Iterable<string>) =>
  [...names].filter((name) => (former?.has(name) ?? true) || (hasDatabase && name === DATABASE_PASSWORD));

function ownSecret(plot: Plot, name: string): OwnSecret {
  const before = plot.former?.get(name);
  const version = ownVersion(before);
  const asked = askedRotation(plot, name);
  const own = { kind: "own", name, ...generation(plot, name) } as const;
  if (before === undefined || version === undefined) return { ...own, version: 1, ...rotation(asked) };
  const next = isAskedAnew(asked, before) ? version + 1 : version;
  return { ...own, version: next, ...rotation(asked ?? before.rotation) };
}

/** What to make where there is no value: nothing where somebody else is to provide it. */
function generation(plot: Plot, name: string): Pick<OwnSecret, "generate"> {
  if (plot.provided.has(name) || !generates(plot)) return {};
  return { generate: plot.listed.get(name) ?? { name, ...UNLISTED } };
}

/** Variables may have names that JavaScript's objects know, too. */
function askedRotation({ environment }: Pick<Plot, "environment">, name: string): string | undefined {
  const { rotate = {} } = environment.spec.secrets ?? {};
  return Object.hasOwn(rotate, name) ? rotate[name] : undefined;
}

/** The version of its own value, also while another one stands in for it: what was rotated away never comes back. */
function ownVersion(before: SecretStatus | undefined): number | undefined {
  return before?.source === undefined ? before?.version : before.own;
}

function referredSecret(plot: Plot, name: string, reference: Reference): ReferredSecret {
  const before = plot.former?.get(name);
  const source = `${reference.name}@${reference.key}`;
  const asked = askedRotation(plot, name);
  const own = ownVersion(before);
  const isPinned = before?.source === source && !isAskedAnew(asked, before);
  return {
    ...referent(plot.environment, reference.name),
    name,
    version: reference.key === "latest" ? (isPinned ? before.version : "latest") : Number(reference.key),
    ...rotation(asked ?? before?.rotation),
    source,
    ...(own === undefined ? {} : { own }),
  };
}

/** An id that begins as those of this environment do names one of its variables: nobody else's can be read by it. */
function referent({ metadata }: EphemeralEnvironment, id: string): Pick<ReferredSecret, "kind" | "of"> {
  const prefix = `${secretStoreName(metadata)}-`;
  return id.startsWith(prefix) ? { kind: "alias", of: id.slice(prefix.length) } : { kind: "shared", of: id };
}

function isAskedAnew(asked: string | undefined, before: SecretStatus): boolean {
  return asked !== undefined && asked !== before.rotation;
}

/** What the database's URL is made of, in the words of the status. */
const URL_SOURCE = `${DATABASE_PASSWORD}@latest`;

/** As new as the password that it holds. */
function withDatabaseUrl(secrets: readonly PlannedSecret[], { former }: Plot): readonly PlannedSecret[] {
  const password = secrets.find(({ name }) => name === DATABASE_PASSWORD);
  if (password === undefined) return secrets;
  const own = ownVersion(former?.get(DATABASE_URL));
  const url: DerivedSecret = {
    ...{ kind: "derived", name: DATABASE_URL, of: DATABASE_PASSWORD, source: URL_SOURCE },
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

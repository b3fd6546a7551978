import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment, SecretStatus } from "../../../crds/ephemeral-environment.ts";
import { type Component, secretStoreName } from "../../../crds/names.ts";
import { admits, type Repository, type WantedSecret, wantedSecrets } from "../../../crds/repository.ts";
import { failed, type Unfinished } from "../step.ts";
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
}

/** One variable of the pods' Secret. */
export type PlannedSecret = OwnSecret | ReferredSecret;

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
  /** What the Repositories list, by variable. */
  readonly listed: ReadonlyMap<string, WantedSecret>;
  readonly provided: ReadonlySet<string>;
  /** What the status holds; `undefined` before anything was planned. */
  readonly former: ReadonlyMap<string, SecretStatus> | undefined;
}

/**
 * Where the value of every secret variable comes from. A reference comes before a generated value; a value that
 * somebody provides comes before the config set's references. A variable that a Repository lists after the environment
 * was made does not reach it.
 */
export function secretPlan(
  environment: EphemeralEnvironment,
  repositories: { readonly [component in Component]?: Repository },
  configSet?: ConfigSetSpec,
): SecretPlan {
  const { spec, status } = environment;
  const plot: Plot = {
    environment,
    configSet,
    variables: variablesOf(environment, repositories, configSet),
    listed: new Map(
      Object.values(repositories)
        .flatMap(wantedSecrets)
        .map((secret) => [secret.name, secret]),
    ),
    provided: new Set(spec.secrets?.provided),
    former: status?.secrets && new Map(status.secrets.map((secret) => [secret.name, secret])),
  };
  const references = winning(plot);
  const own = ownNames(plot).filter((name) => !references.has(name));
  const planned = [
    ...own.map((name) => ownSecret(plot, name)),
    ...[...references].map(([name, reference]) => referredSecret(plot, name, reference)),
  ];
  const secrets = planned.sort((one, other) => (one.name < other.name ? -1 : 1));
  const problem = problemOf(plot, secrets);
  return problem === undefined ? { secrets: settled(secrets) } : { problem };
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
    ...(secret.kind === "own" ? {} : { source: secret.source }),
  }));
}

/** The references that count; a provided value beats what a config set refers to. */
function winning({ variables, provided }: Plot): ReadonlyMap<string, Reference> {
  return new Map(
    [...variables.references].filter(([name, { origin }]) => origin === "override" || !provided.has(name)),
  );
}

function ownNames(plot: Plot): string[] {
  const { listed, provided, former } = plot;
  if (!generates(plot)) return [...provided];
  const kept = [...(former?.values() ?? [])].filter(({ source }) => source === undefined).map(({ name }) => name);
  return [...new Set([...known(plot, listed.keys()), ...kept, ...provided])];
}

const generates = ({ environment }: Plot) => environment.spec.secrets?.autoGenerate !== false;

/** Those that the environment was made with. */
const known = ({ former }: Plot, names: Iterable<string>) => [...names].filter((name) => former?.has(name) ?? true);

function ownSecret({ environment, listed, provided, former }: Plot, name: string): OwnSecret {
  const before = former?.get(name);
  const asked = environment.spec.secrets?.rotate?.[name];
  const generate = provided.has(name) ? {} : { generate: listed.get(name) ?? { name, ...UNLISTED } };
  // What was read from elsewhere before has no version of its own yet.
  if (before === undefined || before.source !== undefined) {
    return { kind: "own", name, version: 1, ...rotation(asked), ...generate };
  }
  if (!isAskedAnew(asked, before)) {
    return { kind: "own", name, version: before.version, ...rotation(before.rotation), ...generate };
  }
  return { kind: "own", name, version: before.version + 1, ...rotation(asked), ...generate };
}

function referredSecret({ environment, former }: Plot, name: string, reference: Reference): ReferredSecret {
  const before = former?.get(name);
  const source = `${reference.name}@${reference.key}`;
  const asked = environment.spec.secrets?.rotate?.[name];
  const prefix = `${secretStoreName(environment.metadata)}-`;
  const isOwn = reference.name.startsWith(prefix);
  const isPinned = before?.source === source && !isAskedAnew(asked, before);
  return {
    kind: isOwn ? "alias" : "shared",
    name,
    of: isOwn ? reference.name.slice(prefix.length) : reference.name,
    version: reference.key === "latest" ? (isPinned ? before.version : "latest") : Number(reference.key),
    ...rotation(asked ?? before?.rotation),
    source,
  };
}

const rotation = (asked: string | undefined) => (asked === undefined ? {} : { rotation: asked });

function isAskedAnew(asked: string | undefined, before: SecretStatus): boolean {
  return asked !== undefined && asked !== before.rotation;
}

/** The newest value of one of its own is the one in force: an alias follows when that is rotated. */
function settled(secrets: readonly PlannedSecret[]): readonly PlannedSecret[] {
  return secrets.map((secret) => {
    if (secret.kind !== "alias" || !secret.source.endsWith("@latest")) return secret;
    const own = secrets.find(({ kind, name }) => kind === "own" && name === secret.of);
    return { ...secret, version: own?.version ?? "latest" };
  });
}

function problemOf(plot: Plot, secrets: readonly PlannedSecret[]): Unfinished | undefined {
  const found = RULES.map(({ reason, broken, message }) => ({ reason, names: broken(plot, secrets), message })).find(
    ({ names }) => names.length > 0,
  );
  return found && failed(found.reason, found.message(found.names.join(", ")));
}

interface Rule {
  readonly reason: string;
  /** The variables that break it. */
  readonly broken: (plot: Plot, secrets: readonly PlannedSecret[]) => readonly string[];
  readonly message: (names: string) => string;
}

const RULES: readonly Rule[] = [
  {
    reason: "SecretInPlainText",
    broken: ({ variables }) => variables.inPlainText,
    message: (names) =>
      `${names}: a plain value for a secret variable can be read by everybody who sees this resource; remove it and ` +
      "refer to the secret manager by secretRef, or give it through the REST interface, which keeps it secret",
  },
  {
    reason: "SecretContradictory",
    broken: ({ variables, provided }) => {
      const both = [...variables.references].filter(
        ([name, { origin }]) => origin === "override" && provided.has(name),
      );
      return [...new Set([...variables.contradictory, ...both.map(([name]) => name)])];
    },
    message: (names) => `${names}: all components see one value, and more than one was asked for: name one source`,
  },
  {
    reason: "SharedApiKeysMissing",
    broken: ({ environment, configSet }) => {
      const isAsked = environment.spec.secrets?.useSharedApiKeys ?? false;
      return isAsked && (configSet?.sharedApiKeys ?? []).length === 0 ? ["spec.secrets.useSharedApiKeys"] : [];
    },
    message: (names) => `${names}: needs a config set that has shared API keys`,
  },
  {
    reason: "SecretNotShared",
    broken: ({ environment, configSet }) => {
      const isAsked = environment.spec.secrets?.useSharedApiKeys ?? false;
      return isAsked && !sharesKeys(environment, configSet) ? ["spec.secrets.useSharedApiKeys"] : [];
    },
    message: (names) => `${names}: the config set's groups and those of this environment have none in common`,
  },
  {
    reason: "SecretsMissing",
    broken: (plot, secrets) => {
      const given = new Set(secrets.map(({ name }) => name));
      return generates(plot) ? [] : known(plot, plot.listed.keys()).filter((name) => !given.has(name));
    },
    message: (names) =>
      `${names}: nothing is generated because spec.secrets.autoGenerate is false: provide each of them or refer to it`,
  },
  {
    reason: "RotationUnknown",
    broken: ({ environment }, secrets) => {
      const rotated = Object.keys(environment.spec.secrets?.rotate ?? {});
      return rotated.filter((name) => !secrets.some((secret) => secret.name === name));
    },
    message: (names) => `${names}: spec.secrets.rotate names what is no secret variable of this environment`,
  },
];

function sharesKeys({ spec }: EphemeralEnvironment, configSet: ConfigSetSpec | undefined): boolean {
  return configSet === undefined || admits({ spec: configSet }, spec.access?.groups ?? []);
}

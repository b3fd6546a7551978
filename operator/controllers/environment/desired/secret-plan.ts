import type { EphemeralEnvironment, SecretStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { secretStoreName } from "../../../../crds/names.ts";
import { present } from "../../../../crds/present.ts";
import { admits, type GeneratedSecret, generatedSecrets } from "../../../../crds/repository/repository.ts";
import type { BackingService, DerivedVariable } from "../backing-services/backing-service.ts";
import { desiredServices, type PlanInput } from "../plan-input.ts";
import { failed } from "../step-result.ts";
import {
  type DerivedSecret,
  type OwnSecret,
  type PlannedSecret,
  type ReferredSecret,
  rotation,
} from "./planned-secret.ts";
import { type SecretReference, type Variables, variablesOf } from "./variables.ts";

/** Shape of a lost value that no Repository lists any more. */
const UNLISTED = { kind: "password", length: 32 } as const;

interface SecretSources extends PlanInput {
  readonly desired: readonly BackingService[];
  readonly variables: Variables;
  /** Needs of the Repositories and backing services, by variable. */
  readonly listed: ReadonlyMap<string, GeneratedSecret>;
  readonly provided: ReadonlySet<string>;
  /** Secrets in the status; `undefined` before the first plan. */
  readonly former: ReadonlyMap<string, SecretStatus> | undefined;
}

/**
 * Sorted content of the pods' Secret, or the request's problem. References win over generated values, and provided
 * values over the config set's references. Variables listed after the environment's creation do not reach it. A backing
 * service's variables come with it; its derived ones yield to users' values.
 */
export function secretPlan(input: PlanInput) {
  const sources = sourcesOf(input);
  const { desired, provided } = sources;
  const references = effectiveReferences(sources);
  const derived = desired
    .flatMap((service) => service.derived)
    .filter(({ name }) => !references.has(name) && !provided.has(name));
  const own = ownNames(sources).filter((name) => !references.has(name) && !derived.some((one) => one.name === name));
  const secrets = [
    ...own.map((name) => ownSecret(sources, name)),
    ...[...references].map(([name, reference]) => referredSecret(sources, name, reference)),
  ];
  const required = generates(sources) ? [] : known(sources);
  const requested = { ...sources, required, planned: new Set(secrets.map(({ name }) => name)) };
  for (const { reason, offenders, message } of RULES) {
    const names = offenders(requested);
    if (names.length > 0) return { problem: failed(reason, message(names.join(", "))) };
  }
  const resolved = withAliases(secrets);
  const all = [...resolved, ...derived.flatMap((variable) => derivedSecret(variable, resolved, sources))];
  return { secrets: all.sort((one, other) => (one.name < other.name ? -1 : 1)) };
}

/** Former content of the pods' Secret, from the status; it stays while the request has a problem. */
export function formerPlan(input: PlanInput): readonly PlannedSecret[] {
  const sources = sourcesOf(input);
  const derived = input.services.flatMap((service) => service.derived);
  return [...(sources.former?.values() ?? [])].map(({ source, ...secret }): PlannedSecret => {
    if (source === undefined) return { ...secret, kind: "own", ...generation(sources, secret.name) };
    const variable = derived.find((one) => one.name === secret.name && sourceOf(one) === source);
    if (variable !== undefined) {
      return { ...secret, kind: "derived", of: variable.of, source, value: variable.value };
    }
    return { ...secret, ...referent(input.environment, source.slice(0, source.lastIndexOf("@"))), source };
  });
}

function sourcesOf(input: PlanInput): SecretSources {
  const { spec, status } = input.environment;
  const desired = desiredServices(input);
  const listed = [
    ...desired.flatMap((service) => service.secrets),
    ...Object.values(input.repositories).flatMap(generatedSecrets),
  ];
  return {
    ...input,
    desired,
    variables: variablesOf(input),
    listed: new Map(listed.map((secret) => [secret.name, secret])),
    provided: new Set(spec.secrets?.provided),
    former: status?.secrets && new Map(status.secrets.map((secret) => [secret.name, secret])),
  };
}

/** Applicable references; a provided value wins over a reference of the config set. */
function effectiveReferences({ variables, provided }: SecretSources): ReadonlyMap<string, SecretReference> {
  return new Map(
    [...variables.references].filter(([name, { origin }]) => origin === "override" || !provided.has(name)),
  );
}

function ownNames(sources: SecretSources): string[] {
  const { provided, former } = sources;
  const generated = generates(sources) ? known(sources) : [];
  const formerOwn = [...(former?.values() ?? [])].filter((secret) => ownVersion(secret) !== undefined);
  return [...new Set([...generated, ...formerOwn.map(({ name }) => name), ...provided])];
}

const generates = ({ environment }: SecretSources) => environment.spec.secrets?.autoGenerate !== false;

/** Listed variables of the environment's creation; a backing service may be added later. */
function known({ former, listed, desired }: SecretSources): string[] {
  const ofServices = new Set(desired.flatMap(({ secrets }) => secrets.map(({ name }) => name)));
  return [...listed.keys()].filter((name) => (former?.has(name) ?? true) || ofServices.has(name));
}

function ownSecret(sources: SecretSources, name: string): OwnSecret {
  const before = sources.former?.get(name);
  const version = ownVersion(before);
  const requested = requestedRotation(sources, name);
  const own = { kind: "own", name, ...generation(sources, name) } as const;
  if (before === undefined || version === undefined) return { ...own, version: 1, ...rotation(requested) };
  const next = isNewRotation(requested, before) ? version + 1 : version;
  return { ...own, version: next, ...rotation(requested ?? before.rotation) };
}

/** Shape to generate for a missing value; nothing for a value that users provide. */
function generation(sources: SecretSources, name: string): Pick<OwnSecret, "generate"> {
  if (sources.provided.has(name) || !generates(sources)) return {};
  return { generate: sources.listed.get(name) ?? { name, ...UNLISTED } };
}

/** Own properties only: variables may be named like members of JavaScript's objects. */
function requestedRotation({ environment }: SecretSources, name: string): string | undefined {
  const { rotate = {} } = environment.spec.secrets ?? {};
  return Object.hasOwn(rotate, name) ? rotate[name] : undefined;
}

/** Version of the own value, even while a reference replaces it: a rotated value never returns. */
function ownVersion(before: SecretStatus | undefined): number | undefined {
  return before?.source === undefined ? before?.version : before.own;
}

function referredSecret(sources: SecretSources, name: string, reference: SecretReference): ReferredSecret {
  const before = sources.former?.get(name);
  const source = `${reference.name}@${reference.key}`;
  const requested = requestedRotation(sources, name);
  const isPinned = before?.source === source && !isNewRotation(requested, before);
  return {
    ...referent(sources.environment, reference.name),
    name,
    version: reference.key === "latest" ? (isPinned ? before.version : "latest") : Number(reference.key),
    ...rotation(requested ?? before?.rotation),
    source,
    ...present({ own: ownVersion(before) }),
  };
}

/** An id with this environment's prefix is one of its own variables; no other environment's can be read by it. */
function referent({ metadata }: EphemeralEnvironment, id: string): Pick<ReferredSecret, "kind" | "of"> {
  const prefix = `${secretStoreName(metadata)}-`;
  return id.startsWith(prefix) ? { kind: "alias", of: id.slice(prefix.length) } : { kind: "shared", of: id };
}

function isNewRotation(requested: string | undefined, before: SecretStatus): boolean {
  return requested !== undefined && requested !== before.rotation;
}

const sourceOf = ({ of }: DerivedVariable) => `${of}@latest`;

/** A derived value has its source's version. */
function derivedSecret(
  variable: DerivedVariable,
  secrets: readonly PlannedSecret[],
  { former }: SecretSources,
): DerivedSecret[] {
  const { name, of, value } = variable;
  const base = secrets.find((secret) => secret.name === of);
  if (base === undefined) return [];
  const own = present({ own: ownVersion(former?.get(name)) });
  return [{ kind: "derived", name, of, value, version: base.version, source: sourceOf(variable), ...own }];
}

/** An alias of the latest value has the planned version of that value: it follows a rotation. */
function withAliases(secrets: readonly PlannedSecret[]): readonly PlannedSecret[] {
  return secrets.map((secret) => {
    if (secret.kind !== "alias" || !secret.source.endsWith("@latest")) return secret;
    const own = secrets.find(({ kind, name }) => kind === "own" && name === secret.of);
    return { ...secret, version: own?.version ?? "latest" };
  });
}

interface RequestedSecrets extends SecretSources {
  /** Variables that must be given, because nothing is generated. */
  readonly required: readonly string[];
  readonly planned: ReadonlySet<string>;
}

interface Rule {
  readonly reason: string;
  readonly offenders: (requested: RequestedSecrets) => readonly string[];
  readonly message: (names: string) => string;
}

/** The first broken rule is the request's problem; until it is solved, pods keep their former secrets. */
const RULES: readonly Rule[] = [
  {
    reason: "SecretInPlainText",
    offenders: ({ variables }) => variables.inPlainText,
    message: (names) =>
      `${names}: a plain value of a secret variable is visible to everyone who can read the resource; use a secretRef to the ` +
      "secret manager instead, or give the value through the REST interface, which keeps it secret",
  },
  {
    reason: "SecretContradictory",
    offenders: ({ variables, provided }) => {
      const overridden = [...variables.references].filter(([, { origin }]) => origin === "override");
      const both = overridden.map(([name]) => name).filter((name) => provided.has(name));
      return [...new Set([...variables.contradictory, ...both])];
    },
    message: (names) => `${names}: all components share one value, but different values were requested`,
  },
  {
    reason: "SharedApiKeysMissing",
    offenders: (requested) => sharing(requested, ({ configSet }) => (configSet?.sharedApiKeys ?? []).length === 0),
    message: (names) => `${names}: needs a config set that has shared API keys`,
  },
  {
    reason: "SecretNotShared",
    offenders: (requested) =>
      sharing(requested, ({ environment, configSet }) => {
        return configSet !== undefined && !admits({ spec: configSet }, environment.spec.access?.groups ?? []);
      }),
    message: (names) => `${names}: this environment has no group in common with the config set's`,
  },
  {
    reason: "SecretsMissing",
    offenders: ({ required, planned }) => required.filter((name) => !planned.has(name)),
    message: (names) =>
      `${names}: nothing is generated, because spec.secrets.autoGenerate is false: refer to a secret for each of them`,
  },
  {
    reason: "RotationUnknown",
    offenders: ({ environment, planned }) =>
      Object.keys(environment.spec.secrets?.rotate ?? {}).filter((name) => !planned.has(name)),
    message: (names) => `${names}: spec.secrets.rotate names no secret variable of this environment`,
  },
];

const FIELD = "spec.secrets.useSharedApiKeys";

function sharing(requested: RequestedSecrets, isWrong: (requested: RequestedSecrets) => boolean): readonly string[] {
  return requested.environment.spec.secrets?.useSharedApiKeys && isWrong(requested) ? [FIELD] : [];
}

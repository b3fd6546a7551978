import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Settings } from "../../../config/settings.ts";
import type { SecretStatus } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { GeneratedSecret } from "../../../crds/repository/repository.ts";
import { isSharedWith } from "../../../crds/secret-sharing.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { SecretManager, StoredSecret } from "../../ports/secret-manager.ts";
import { type PlannedSecret, plannedStatus, type ReferredSecret } from "./desired/planned-secret.ts";
import { failed, type Unfinished } from "./step-result.ts";

/** The secret manager is not watched: this notices new or newly shared secrets. */
const REFERENCE_RECHECK_MS = 30_000;

/** The places of secret values, and what decides about sharing them. */
export interface SecretValueSources {
  readonly settings: Settings;
  readonly repositories: Repositories;
  readonly secretManager: SecretManager;
  /** A new random value of the kind and length. */
  readonly generateSecret: (shape: GeneratedSecret) => Sensitive;
}

/** All values of a plan, by variable, and its status. */
export interface Complete {
  readonly state: "complete";
  readonly values: ReadonlyMap<string, StoredSecret>;
  readonly secrets: SecretStatus[];
}

/** Reads the values of a plan; generates missing own ones. `awaiting`: users have yet to write these variables. */
export async function gather(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  sources: SecretValueSources,
): Promise<Complete | { readonly state: "awaiting"; readonly variables: readonly string[] } | Unfinished> {
  const own = plan.filter((secret) => secret.kind === "own");
  const referred = plan.filter((secret) => secret.kind !== "own" && secret.kind !== "derived");
  const requests = own.map(({ name, version, generate }) =>
    generate === undefined ? { name, version } : { name, version, generate: () => sources.generateSecret(generate) },
  );
  const ensuring = sources.secretManager.ensure(environment.metadata, requests);
  const read = (secret: ReferredSecret) =>
    secret.kind === "alias"
      ? aliasValue(environment, secret, sources.secretManager, ensuring)
      : sharedValue(environment, secret, sources);
  const [ownValues, answers] = await Promise.all([ensuring, Promise.all(referred.map(read))]);
  const variables = own.filter(({ name }) => !ownValues.has(name)).map(({ name }) => name);
  if (variables.length > 0) return { state: "awaiting", variables };
  const refusal = answers.find((answer) => "state" in answer);
  if (refusal !== undefined) return refusal as Unfinished;
  const others = referred.map(({ name }, index) => [name, answers[index] as StoredSecret] as const);
  const values = withDerived(plan, new Map([...ownValues, ...others]));
  return { state: "complete", values, secrets: plannedStatus(plan, values) };
}

function withDerived(plan: readonly PlannedSecret[], values: ReadonlyMap<string, StoredSecret>) {
  const derived = plan.flatMap((secret) => {
    const base = secret.kind === "derived" ? values.get(secret.of) : undefined;
    if (secret.kind !== "derived" || base === undefined) return [];
    return [[secret.name, { ...base, value: secret.value(base.value) }] as const];
  });
  return new Map([...values, ...derived]);
}

/** The source may be generated in this very reconcile. */
async function aliasValue(
  { metadata }: EphemeralEnvironment,
  { name, of, version, source }: ReferredSecret,
  secretManager: SecretManager,
  ensuring: Promise<ReadonlyMap<string, StoredSecret>>,
): Promise<StoredSecret | Unfinished> {
  const own = (await ensuring).get(of);
  if (own?.version === version) return own;
  const former = version === "latest" ? undefined : await secretManager.ensure(metadata, [{ name: of, version }]);
  return former?.get(of) ?? notFound(name, source);
}

/** Checked at every read, because sharing may end; pods keep their values. */
async function sharedValue(
  { spec }: EphemeralEnvironment,
  { name, of, version, source }: ReferredSecret,
  { secretManager, settings, repositories }: SecretValueSources,
): Promise<StoredSecret | Unfinished> {
  const labelsOf = async () => (await secretManager.shared(of))?.labels;
  if (!(await isSharedWith({ settings, repositories }, spec.access?.groups ?? [], { id: of, labelsOf }))) {
    const message = `${name}: the settings share no secret '${of}' with the groups of this environment`;
    return failed("SecretNotShared", message, { requeueAfterMs: REFERENCE_RECHECK_MS });
  }
  return (await secretManager.read(of, version)) ?? notFound(name, source);
}

function notFound(variable: string, source: string): Unfinished {
  const message = `${variable}: the secret manager has no '${source}': create it, or reference another one`;
  return failed("SecretNotFound", message, { requeueAfterMs: REFERENCE_RECHECK_MS });
}

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Random value of the kind and length, from the system's cryptographic source. */
export function randomSecret({ kind, length }: GeneratedSecret): Sensitive {
  return new Sensitive(SHAPES[kind](length));
}

const SHAPES = {
  // Letters and digits need no escaping in connection strings and shells.
  password: (length: number) =>
    Array.from({ length }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join(""),
  key: (length: number) => randomBytes(length).toString("base64url").slice(0, length),
  token: (length: number) => randomBytes(length).toString("hex").slice(0, length),
  uuid: () => randomUUID(),
} satisfies Record<GeneratedSecret["kind"], (length: number) => string>;

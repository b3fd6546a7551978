import type { SecretStatus } from "../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isSharedWith } from "../../crds/secret-sharing.ts";
import type { StoredSecret } from "../ports/secret-manager.ts";
import { databaseUrl } from "./desired/database.ts";
import { type OwnSecret, type PlannedSecret, plannedStatus, type ReferredSecret } from "./desired/planned-secret.ts";
import { failed, type StepContext, type Unfinished } from "./step.ts";

/** Nobody watches the secret manager: whether a secret is shared or there by now has to be asked. */
const REFERENCE_RECHECK_MS = 30_000;

type Outside = Pick<StepContext, "secretManager" | "settings" | "generateSecret">;

/** Every value of a plan, by variable, and what the status says of them. */
export interface Complete {
  readonly state: "complete";
  readonly values: ReadonlyMap<string, StoredSecret>;
  readonly secrets: SecretStatus[];
}

/** What the secret manager answered for a plan. */
export type Gathered =
  | Complete
  /** Variables whose value somebody else is to write, and has not yet. */
  | { readonly state: "awaiting"; readonly variables: readonly string[] }
  | { readonly state: "refused"; readonly result: Unfinished };

/** The values of a plan, by variable; a value of our own is made where there is none. */
export async function gather(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  outside: Outside,
): Promise<Gathered> {
  const own = plan.filter((secret) => secret.kind === "own");
  const referred = plan.filter(
    (secret): secret is ReferredSecret => secret.kind === "alias" || secret.kind === "shared",
  );
  const making = ownValues(environment, own, outside);
  const [stored, answers] = await Promise.all([
    making,
    Promise.all(referred.map((secret) => referredValue(environment, secret, { ...outside, making }))),
  ]);
  const variables = own.filter(({ name }) => !stored.has(name)).map(({ name }) => name);
  if (variables.length > 0) return { state: "awaiting", variables };
  const refusal = answers.find((answer) => "state" in answer);
  if (refusal !== undefined) return { state: "refused", result: refusal as Unfinished };
  const others = referred.map(({ name }, index) => [name, answers[index] as StoredSecret] as const);
  const values = withDerived(plan, new Map([...stored, ...others]));
  return { state: "complete", values, secrets: plannedStatus(plan, values) };
}

/** The database's URL is the only value that is made of another. */
function withDerived(plan: readonly PlannedSecret[], values: ReadonlyMap<string, StoredSecret>) {
  const derived = plan.flatMap((secret) => {
    const from = secret.kind === "derived" ? values.get(secret.of) : undefined;
    return from === undefined ? [] : [[secret.name, { ...from, value: databaseUrl(from.value) }] as const];
  });
  return new Map([...values, ...derived]);
}

async function ownValues(
  { metadata }: EphemeralEnvironment,
  own: readonly OwnSecret[],
  { secretManager, generateSecret }: Outside,
): Promise<ReadonlyMap<string, StoredSecret>> {
  const requests = own.map(({ name, version, generate }) => ({
    ...{ name, version },
    ...(generate === undefined ? {} : { generate: () => generateSecret(generate) }),
  }));
  return secretManager.ensure(metadata, requests);
}

type Stored = ReadonlyMap<string, StoredSecret>;

function referredValue(
  environment: EphemeralEnvironment,
  secret: ReferredSecret,
  outside: Outside & { readonly making: Promise<Stored> },
): Promise<StoredSecret | Unfinished> {
  return secret.kind === "alias"
    ? repeatedValue(environment, secret, outside)
    : sharedValue(environment, secret, outside);
}

/** What it repeats may be new in this very pass. */
async function repeatedValue(
  { metadata }: EphemeralEnvironment,
  { name, of, version, source }: ReferredSecret,
  { secretManager, making }: Outside & { readonly making: Promise<Stored> },
): Promise<StoredSecret | Unfinished> {
  const own = (await making).get(of);
  if (own?.version === version) return own;
  const former = version === "latest" ? undefined : await secretManager.ensure(metadata, [{ name: of, version }]);
  return former?.get(of) ?? notFound(name, source);
}

/** Judged whenever it is read, whoever wrote the reference: what was shared yesterday may not be today. What pods have stays. */
async function sharedValue(
  { spec }: EphemeralEnvironment,
  { name, of, version, source }: ReferredSecret,
  { secretManager, settings }: Outside,
): Promise<StoredSecret | Unfinished> {
  const labelsOf = async () => (await secretManager.shared(of))?.labels;
  if (!(await isSharedWith(settings.secrets, spec.access?.groups ?? [], { id: of, labelsOf }))) {
    const message = `${name}: the settings share no secret '${of}' with the groups of this environment`;
    return { ...failed("SecretNotShared", message), requeueAfterMs: REFERENCE_RECHECK_MS };
  }
  return (await secretManager.read(of, version)) ?? notFound(name, source);
}

function notFound(variable: string, source: string): Unfinished {
  const message = `${variable}: the secret manager has no '${source}': write it there, or refer to another one`;
  return { ...failed("SecretNotFound", message), requeueAfterMs: REFERENCE_RECHECK_MS };
}

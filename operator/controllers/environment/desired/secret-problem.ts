import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { admits } from "../../../../crds/repository/repository.ts";
import { failed, type Unfinished } from "../step-result.ts";
import type { Variables } from "./variables.ts";

export interface RequestedSecrets {
  readonly environment: EphemeralEnvironment;
  readonly configSet: ConfigSetSpec | undefined;
  readonly variables: Variables;
  readonly provided: ReadonlySet<string>;
  /** Variables that must be given, because nothing is generated. */
  readonly required: readonly string[];
  readonly planned: ReadonlySet<string>;
}

/** First problem of the request; until it is solved, pods keep their former secrets. */
export function secretProblem(requested: RequestedSecrets): Unfinished | undefined {
  for (const { reason, offenders, message } of RULES) {
    const names = offenders(requested);
    if (names.length > 0) return failed(reason, message(names.join(", ")));
  }
  return undefined;
}

interface Rule {
  readonly reason: string;
  readonly offenders: (requested: RequestedSecrets) => readonly string[];
  readonly message: (names: string) => string;
}

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
      sharing(requested, ({ configSet }) => configSet !== undefined && !admitsIt(requested, configSet)),
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

function admitsIt({ environment }: RequestedSecrets, configSet: ConfigSetSpec): boolean {
  return admits({ spec: configSet }, environment.spec.access?.groups ?? []);
}

import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { admits } from "../../../crds/repository/repository.ts";
import { failed, type Unfinished } from "../step.ts";
import type { Variables } from "./variables.ts";

/** What was asked for, and what it comes to. */
export interface AskedSecrets {
  readonly environment: EphemeralEnvironment;
  readonly configSet: ConfigSetSpec | undefined;
  readonly variables: Variables;
  readonly provided: ReadonlySet<string>;
  /** Those that have to come from somewhere, because nothing is generated. */
  readonly required: readonly string[];
  /** The variables that the plan has. */
  readonly planned: ReadonlySet<string>;
}

/** The first thing that is wrong with what was asked for: until it is put right, pods keep the secrets of before. */
export function secretProblem(asked: AskedSecrets): Unfinished | undefined {
  for (const { reason, offenders, message } of RULES) {
    const names = offenders(asked);
    if (names.length > 0) return failed(reason, message(names.join(", ")));
  }
  return undefined;
}

interface Rule {
  readonly reason: string;
  /** The variables or fields that break it. */
  readonly offenders: (asked: AskedSecrets) => readonly string[];
  readonly message: (names: string) => string;
}

const RULES: readonly Rule[] = [
  {
    reason: "SecretInPlainText",
    offenders: ({ variables }) => variables.inPlainText,
    message: (names) =>
      `${names}: everybody who sees the resource could read a plain value of a secret variable; refer to the secret ` +
      "manager by secretRef instead, or give the value through the REST interface, which keeps it secret",
  },
  {
    reason: "SecretContradictory",
    offenders: ({ variables, provided }) => {
      const overridden = [...variables.references].filter(([, { origin }]) => origin === "override");
      const both = overridden.map(([name]) => name).filter((name) => provided.has(name));
      return [...new Set([...variables.contradictory, ...both])];
    },
    message: (names) => `${names}: there is one value for all components, and more than one was asked for`,
  },
  {
    reason: "SharedApiKeysMissing",
    offenders: (asked) => sharing(asked, ({ configSet }) => (configSet?.sharedApiKeys ?? []).length === 0),
    message: (names) => `${names}: needs a config set that has shared API keys`,
  },
  {
    reason: "SecretNotShared",
    offenders: (asked) => sharing(asked, ({ configSet }) => configSet !== undefined && !admitsIt(asked, configSet)),
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
    message: (names) => `${names}: spec.secrets.rotate names what is no secret variable of this environment`,
  },
];

const FIELD = "spec.secrets.useSharedApiKeys";

function sharing(asked: AskedSecrets, isWrong: (asked: AskedSecrets) => boolean): readonly string[] {
  return asked.environment.spec.secrets?.useSharedApiKeys && isWrong(asked) ? [FIELD] : [];
}

function admitsIt({ environment }: AskedSecrets, configSet: ConfigSetSpec): boolean {
  return admits({ spec: configSet }, environment.spec.access?.groups ?? []);
}

/**
 * Defines the references `${…}` of chart values: the source of the API server's rule and message, of the
 * documentation's tables, and of the values that are filled in.
 *
 * No row may give a secret's value: everyone with access to the deployer's objects can read chart values.
 */
import type { Json, JsonObject } from "../json.ts";
import { COMPONENTS, type Component, FURTHER_HOST_PATTERN } from "../names.ts";

/** Facts about a component of an environment. */
export interface ComponentFacts {
  /** Image with its tag. */
  readonly image: string;
  /** `Always` where the tag stays the same from one commit to the next, else `IfNotPresent`. */
  readonly pullPolicy: string;
  readonly commit: string;
  readonly branch: string;
  readonly host: string;
  readonly url: string;
  readonly port: number;
  /** Variables that are not secret. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Chosen number of pods; `undefined` when none is chosen. */
  readonly replicas: number | undefined;
  /** Chosen resources; `undefined` when none are chosen. */
  readonly resources: JsonObject | undefined;
}

/** Facts that references stand for. None of them is a secret. */
export interface EnvironmentFacts {
  readonly environment: { readonly name: string; readonly uid: string };
  readonly components: { readonly [component in Component]?: ComponentFacts };
  /** Hosts beside those of the components. */
  readonly hosts: readonly { readonly name: string; readonly host: string; readonly url: string }[];
  readonly secretName: string;
  readonly imagePullSecrets: readonly { readonly name: string }[] | undefined;
  readonly database: { readonly host: string; readonly user: string; readonly name: string } | undefined;
  readonly ingress: { readonly className: string | undefined; readonly annotations: JsonObject };
  readonly suspended: boolean;
}

/** Type of a reference's value; a list or a map can't stand within other text. */
export type ReferenceType = "text" | "number" | "boolean" | "list" | "map";

/** One kind of reference. */
export interface Reference {
  /** Text between the braces, with its argument's name. */
  readonly name: string;
  /**
   * RE2 and ECMAScript pattern of the text between the braces, with one group around an argument; default: the name.
   */
  readonly pattern?: string;
  readonly type: ReferenceType;
  /** Sentence for the documentation, without its full stop. */
  readonly description: string;
  /** Value of the reference; `undefined` where the environment has none. */
  readonly value: (facts: EnvironmentFacts, argument: string) => Json | undefined;
}

/** Name and tag of an image: a tag has no slash, but a registry may have a port. */
const IMAGE = /^(.*?)(?::([^:/]*))?$/s;

const ofComponent = (component: Component): readonly Reference[] => {
  const row = (
    field: string,
    type: ReferenceType,
    description: string,
    value: (facts: ComponentFacts, all: EnvironmentFacts) => Json | undefined,
  ): Reference => ({
    name: `${component}.${field}`,
    type,
    description,
    value: (all) => {
      const facts = all.components[component];
      return facts === undefined ? undefined : value(facts, all);
    },
  });
  return [
    row("image", "text", "The image of the desired commit, with its tag", ({ image }) => image),
    row("image.repository", "text", "The image without its tag", ({ image }) => IMAGE.exec(image)?.[1]),
    row("image.tag", "text", "The tag of the image", ({ image }) => IMAGE.exec(image)?.[2]),
    row(
      "pullPolicy",
      "text",
      "Always where the tag stays the same from one commit to the next, else IfNotPresent",
      ({ pullPolicy }) => pullPolicy,
    ),
    row("commit", "text", "The commit that is deployed", ({ commit }) => commit),
    row("branch", "text", "The branch of that commit", ({ branch }) => branch),
    row("host", "text", "The host name that the environment answers at", ({ host }) => host),
    row("url", "text", "The URL of that host, with the port where it is not 443", ({ url }) => url),
    row("port", "number", "The port of the Repository: the one that the container listens on", ({ port }) => port),
    row("env", "list", "The variables that are not secret, as a list of {name, value}", ({ env }) =>
      env.map(({ name, value }) => ({ name, value })),
    ),
    row("envMap", "map", "The same variables as a map", ({ env }) =>
      Object.fromEntries(env.map(({ name, value }) => [name, value])),
    ),
    row(
      "replicas",
      "number",
      "The chosen number of pods, if one is chosen; 0 while suspended",
      (facts, { suspended }) => (suspended ? 0 : facts.replicas),
    ),
    row("resources", "map", "The chosen requests and limits, if any are chosen", ({ resources }) => resources),
  ];
};

const ofHosts = (
  suffix: "" | ".url",
  description: string,
  value: (host: EnvironmentFacts["hosts"][number]) => string,
): Reference => ({
  name: `hosts.<name>${suffix}`,
  pattern: `hosts[.](${FURTHER_HOST_PATTERN})${suffix.replace(".", "[.]")}`,
  type: "text",
  description,
  value: ({ hosts }, argument) => {
    const host = hosts.find(({ name }) => name === argument);
    return host && value(host);
  },
});

const HOSTS: readonly Reference[] = [
  ofHosts("", "The host name of the further host <name>, which the Repository lists in spec.hosts", ({ host }) => host),
  ofHosts(".url", "The URL of that host, with the port where it is not 443", ({ url }) => url),
];
/** Names of the references whose argument is a further host. */
export const HOST_REFERENCES: readonly string[] = HOSTS.map(({ name }) => name);

/** All references. */
export const REFERENCES: readonly Reference[] = [
  {
    name: "environment.name",
    type: "text",
    description: "The name of the environment",
    value: ({ environment }) => environment.name,
  },
  {
    name: "environment.uid",
    type: "text",
    description: "UID of the environment, which no other environment ever has",
    value: ({ environment }) => environment.uid,
  },
  ...COMPONENTS.flatMap(ofComponent),
  ...HOSTS,
  {
    name: "secret.name",
    type: "text",
    description: "The name of the Secret whose keys are the secret variables; a new value of one gives it a new name",
    value: ({ secretName }) => secretName,
  },
  {
    name: "imagePullSecrets",
    type: "list",
    description: "[{name: image-pull}] where a Repository names an imagePullSecretRef",
    value: ({ imagePullSecrets }) => imagePullSecrets?.map(({ name }) => ({ name })),
  },
  {
    name: "database.enabled",
    type: "boolean",
    description: "True when the environment has a database",
    value: ({ database }) => database !== undefined,
  },
  {
    name: "database.host",
    type: "text",
    description: "The Service of the database, as in DATABASE_URL",
    value: ({ database }) => database?.host,
  },
  {
    name: "database.user",
    type: "text",
    description: "The user that owns the database",
    value: ({ database }) => database?.user,
  },
  {
    name: "database.name",
    type: "text",
    description: "The name of the database",
    value: ({ database }) => database?.name,
  },
  {
    name: "ingress.className",
    type: "text",
    description: "The setting ingress.className, if there is one",
    value: ({ ingress }) => ingress.className,
  },
  {
    name: "ingress.annotations",
    type: "map",
    description: "The setting ingress.annotations",
    value: ({ ingress }) => ingress.annotations,
  },
  {
    name: "suspended",
    type: "boolean",
    description: "True when the environment is suspended",
    value: ({ suspended }) => suspended,
  },
  {
    name: "replicas.orZero(n)",
    pattern: "replicas[.]orZero[(](0|[1-9][0-9]?)[)]",
    type: "number",
    description: "n (0 to 99), or 0 while the environment is suspended",
    value: ({ suspended }, argument) => (suspended ? 0 : Number(argument)),
  },
];

const patternOf = ({ name, pattern = name.replaceAll(".", "[.]") }: Reference) => pattern;

const KNOWN = REFERENCES.map((reference) => ({ reference, pattern: new RegExp(`^${patternOf(reference)}$`) }));

/** A reference in a text, with its argument (empty where it has none). */
export interface Call {
  readonly reference: Reference;
  readonly argument: string;
}

/** Reference between the braces; `undefined` for an unknown one. */
export function callOf(written: string): Call | undefined {
  for (const { reference, pattern } of KNOWN) {
    const found = pattern.exec(written);
    if (found !== null) return { reference, argument: found[1] ?? "" };
  }
  return undefined;
}

/** Value of a call. */
export const calledValue = ({ reference, argument }: Call, facts: EnvironmentFacts) => reference.value(facts, argument);

/** Sentence for people: all references, and a literal `${`. */
export const REFERENCES_SENTENCE = `there are ${REFERENCES.map(({ name }) => name).join(", ")}; $\${ stands for a literal \${`;

/**
 * One part of a text: other characters, `$$${` with any number of `$`, or a reference. RE2, without an end for `find`.
 */
const PARTS = `^([^$]|[$]+[^\${]|[$][$]+[{]|[$][{](${REFERENCES.map(patternOf).join("|")})[}])*`;

/** CEL: true when the text `self` has no unknown reference. */
export const KNOWN_REFERENCES_CEL = `self.matches(r'${PARTS}[$]*$')`;
/** CEL: the sentence about the first unknown reference of the text `self`. */
export const UNKNOWN_REFERENCE_CEL = `"'" + self.substring(self.find(r'${PARTS}').size()).find(r'^[$][{][^}\\n]{0,80}[}]?') + "' is not known: ${REFERENCES_SENTENCE}"`;

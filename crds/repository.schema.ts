import { type Static, Type } from "typebox";
import { BRANCH_RULES } from "./branches.ts";
import { environmentRootRules, ValuePath } from "./ephemeral-environment.schema.ts";
import { Branch, Groups, literals, rules, VARIABLE_PATTERN } from "./schema.ts";

export const SECRET_KINDS = ["password", "key", "token", "uuid"] as const;
/** The shape of a generated value: `password` letters and digits, `key` base64url bytes, `token` hex, `uuid` version 4. */
export type SecretKind = (typeof SECRET_KINDS)[number];

const GeneratedSecret = Type.Object({
  name: Type.String({ pattern: VARIABLE_PATTERN, maxLength: 128, description: "The variable the pods see." }),
  kind: Type.Optional(literals(SECRET_KINDS, { default: "password" })),
  length: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 256, default: 32, description: "Characters; a uuid has its own length." }),
  ),
});

/** Never two slashes in a row: `//host/` would be read as another host. No nested repetition that backtracks for ever. */
export const HEALTH_PATH_PATTERN = "^/([A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*/?)?$";

const HttpUrl = Type.String({ pattern: "^https?://[^\\s]+$", maxLength: 512 });

/** A chart that turns an environment's values into its objects. */
export const ChartSource = Type.Object({
  repoUrl: HttpUrl,
  path: Type.String({ maxLength: 255, description: "Folder of the chart in the repository." }),
  revision: Type.String({ minLength: 1, maxLength: 255, description: "Branch, tag or commit." }),
});
export type ChartSource = Static<typeof ChartSource>;

/** What the platform sets in a component's values, what has a field of its own, and what JavaScript could trip over. */
const RESERVED_PATH_PATTERN =
  "^[a-z]+[.](image|port|host|url|healthPath|env|replicas|resources)([.]|$)|[.](__proto__|constructor|prototype)([.]|$)";

export const RepositorySpec = Type.Object(
  {
    type: literals(["backend", "frontend"], { description: "Which component of an environment it becomes." }),
    cloneUrl: HttpUrl,
    defaultBranch: Type.Optional(Type.Unsafe<string>({ ...Branch, default: "main" })),
    chart: Type.Optional(ChartSource),
    image: Type.Object({
      repository: Type.String({ minLength: 1, maxLength: 255, pattern: "^[a-z0-9][a-z0-9._:/-]*$" }),
      tagTemplate: Type.Optional(
        Type.String({
          default: "{commit}",
          maxLength: 128,
          pattern: "^[A-Za-z0-9._{}-]+$",
          description: "{commit}: the whole SHA, {short}: its first 8 digits, {branch}: the branch with '/' as '-'.",
        }),
      ),
    }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, default: 8080 })),
    healthPath: Type.Optional(Type.String({ pattern: HEALTH_PATH_PATTERN, maxLength: 255, default: "/" })),
    secrets: Type.Optional(
      Type.Array(GeneratedSecret, {
        maxItems: 50,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        description:
          "What is generated for the environment; DATABASE_PASSWORD, SECRET_KEY and API_TOKEN when left out.",
      }),
    ),
    overridable: Type.Optional(
      Type.Array(ValuePath, {
        maxItems: 50,
        "x-kubernetes-list-type": "set",
        description: "Paths of the chart's values that an environment may override, such as backend.cache.size.",
      }),
    ),
    access: Type.Optional(
      Type.Object({ groups: Groups }, { description: "Who may use it; everybody when left out or empty." }),
    ),
  },
  rules(
    {
      rule: `!has(self.overridable) || self.overridable.all(path, !path.matches('${RESERVED_PATH_PATTERN}'))`,
      fieldPath: ".overridable",
      message:
        "overridable names no path that the platform sets, nor env, replicas and resources: they have fields of their own",
    },
    {
      rule: "self.type == 'backend' || !has(self.chart)",
      fieldPath: ".chart",
      message: "only a backend repository names a chart",
    },
    ...BRANCH_RULES.map(({ cel, message }) => ({
      rule: `!has(self.defaultBranch) || ${cel("self.defaultBranch")}`,
      fieldPath: ".defaultBranch",
      message: `a branch ${message}`,
    })),
  ),
);
export type RepositorySpec = Static<typeof RepositorySpec>;

/** A Repository's name follows the rules of an environment's: environments are named after it. */
export const repositoryRootRules = environmentRootRules;

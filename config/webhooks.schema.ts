/** Settings of repository hosts and of their webhooks' verification. */
import { Type } from "typebox";
import { SecretRef } from "../crds/overrides.schema.ts";
import { closed, described, literals } from "../crds/schema.ts";

export const HOST_KINDS = ["github", "gitea", "gitlab"] as const;
export type HostKind = (typeof HOST_KINDS)[number];

/** Format of a host's API address; its name is the text of the error. */
export const API_URL =
  "base address of an API, such as https://api.github.com: https, or http on loopback; without credentials, query and fragment";

const Secret = (description: string) => Type.Optional(described(SecretRef, description));
/** Two of them live at a time, so that one can be replaced without a gap. */
const Keys = (description: string) =>
  Type.Array(Type.Unsafe<SecretRef>(SecretRef), { maxItems: 2, default: [], description });

/** A host of repositories. A setting, so that replies and tokens are sent to this address alone. */
export const RepositoryHostSettings = closed({
  id: Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
    description: "Id that Repositories name as `host`.",
  }),
  kind: literals(HOST_KINDS, { description: "Decides how its webhooks are verified and read, and its API." }),
  apiUrl: Type.String({
    format: API_URL,
    maxLength: 512,
    description: "GitHub: https://api.github.com; Gitea: https://HOST/api/v1; GitLab: https://HOST/api/v4.",
  }),
  caFile: Type.Optional(
    Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate." }),
  ),
  token: Secret(
    "The API token for statuses, comments, deployments, webhooks and the search for missed ones; none of them without it.",
  ),
});
export type RepositoryHostSettings = {
  readonly id: string;
  readonly kind: HostKind;
  readonly apiUrl: string;
  readonly caFile?: string;
  readonly token?: SecretRef;
};

export const Hosts = Type.Array(RepositoryHostSettings, {
  default: [],
  maxItems: 50,
  description: "The hosts that Repositories may name.",
});

export const Webhooks = closed(
  {
    secrets: Keys(
      "The keys of signatures for Repositories without a key of their own: at least 32 bytes each; GitLab's token where no signing key is set.",
    ),
    pipelineTokens: Keys("The accepted values of X-Pipeline-Token for Repositories without a key of their own."),
    allowedOrganizations: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      default: [],
      description: "The first part of a repository's full name; all registered Repositories when empty.",
    }),
    allowedRepositories: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      default: [],
      description: "Full names; all registered Repositories when empty.",
    }),
    replaySeconds: Type.Integer({
      minimum: 30,
      maximum: 3600,
      default: 300,
      description: "Greatest age of the timestamp of a signed delivery (Standard Webhooks), also into the future.",
    }),
    maxBodyBytes: Type.Integer({
      minimum: 1_048_576,
      maximum: 104_857_600,
      default: 26_214_400,
      description:
        "The most bytes of a host's webhook; GitHub and GitLab send up to 25 MiB. Of a body, only the fields that are read are kept, 1 MiB of them at most.",
    }),
    pending: Type.Integer({
      minimum: 1,
      default: 1000,
      description:
        "Undecided deliveries, a tenth of them of one Repository; more are answered 503. What waits for a name or a host, and the end of a pull request, does not count.",
    }),
    sweepMinutes: Type.Integer({
      minimum: 0,
      maximum: 1440,
      default: 30,
      description:
        "Interval between reads of pull requests whose webhooks were missed, from hosts with a token; 0: only at the start.",
    }),
    retention: closed(
      {
        verified: Type.Integer({
          minimum: 1,
          default: 10_000,
          description:
            "Limit of deliveries with a verified sender; beyond it the Repositories with the most lose their oldest.",
        }),
        verifiedDays: Type.Integer({ minimum: 1, default: 7, description: "Age until which they are kept." }),
        unverified: Type.Integer({
          minimum: 0,
          default: 200,
          description: "Limit of deliveries without a verified sender.",
        }),
        unverifiedHours: Type.Integer({ minimum: 1, default: 24, description: "Age until which they are kept." }),
      },
      { default: {}, description: "Number and age of the kept finished deliveries." },
    ),
  },
  { default: {} },
);

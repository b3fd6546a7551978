import { type Static, Type } from "typebox";
import { COPY_DESCRIPTION } from "../../../crds/database-copy.schema.ts";
import { closed, described, TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import { ConfigOverrides } from "../../schemas/config-overrides.ts";
import {
  BranchName,
  CommitSha,
  EnvironmentName,
  OptionalBranchName,
  OptionalRepositoryId,
  RepositoryId,
  titled,
} from "../../schemas/fields.ts";
import { DatabaseSeed } from "../../schemas/seed.ts";
import { SleepRequest } from "../../schemas/sleep.ts";
import { Ttl } from "../schemas.ts";

export const CreateHeaders = closed({
  "Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[!-~]+$",
      "x-refusal": "must be 1 to 128 visible ASCII characters, given once",
      description:
        "Makes a retry safe: for 24 hours the caller's own requests with this key are answered with the environment that the first one made, as it is now, as long as it exists. A key that was used for another request is 409; the text of variables is not compared. Best a new UUID for every environment.",
      examples: ["7c9e6679-7425-40de-944b-e07fc1f90ae7"],
    }),
  ),
});
export type CreateHeaders = Static<typeof CreateHeaders>;

export const CreateRequest = closed(
  {
    environment_name: EnvironmentName,
    backend_repo: RepositoryId,
    backend_branch: BranchName,
    backend_commit: Type.Optional(CommitSha),
    frontend_repo: Type.Optional(OptionalRepositoryId),
    frontend_branch: Type.Optional(OptionalBranchName),
    frontend_commit: Type.Optional(CommitSha),
    ttl: Type.Optional(
      Type.Integer({
        ...Ttl,
        // No `default`: clients would send it, and override the config set's.
        description: `Hours from creation to deletion. When left out: the default of the config set that is named, if it has one, else ${TTL_DEFAULT_HOURS}.`,
      }),
    ),
    provision_database: Type.Optional(
      Type.Boolean({ description: "A PostgreSQL of its own; as the config set says, else none, when left out." }),
    ),
    auto_generate_secrets: Type.Optional(
      Type.Boolean({
        default: true,
        description: "False: config_overrides gives every secret of the Repositories, as text or by secretKeyRef.",
      }),
    ),
    use_shared_api_keys: Type.Optional(
      Type.Boolean({ description: "Adds the shared API keys of the config set to the variables of the pods." }),
    ),
    config_set: Type.Optional(
      Type.String({
        maxLength: 253,
        description: "Id of a config set; the default one, if there is one, when left out.",
      }),
    ),
    config_overrides: Type.Optional(ConfigOverrides),
  },
  titled("CreateEnvironmentRequest", {
    environment_name: "shop-test",
    backend_repo: "shop-api",
    backend_branch: "main",
    frontend_repo: "shop-web",
    frontend_branch: "main",
    ttl: 24,
  }),
);
export type CreateRequest = Static<typeof CreateRequest>;

/** Request in version 2. */
export const CreateReportRequest = closed(
  {
    ...CreateRequest.properties,
    database_seed: Type.Optional(
      described(DatabaseSeed, "Seed of the database; that of the config set, else of the Repository, when left out."),
    ),
    database_from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        "x-refusal": "must be the name or the id of an environment",
        description: `Name or id of an environment. ${COPY_DESCRIPTION}`,
      }),
    ),
    sleep: Type.Optional(SleepRequest),
  },
  titled("CreateEnvironmentReportRequest", {
    environment_name: "shop-test",
    backend_repo: "shop-api",
    backend_branch: "main",
    ttl: 24,
    sleep: { schedule: { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] } },
  }),
);
export type CreateReportRequest = Static<typeof CreateReportRequest>;

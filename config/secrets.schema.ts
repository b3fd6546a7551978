/** Settings of the secret manager, and the sharing of secrets. */
import { Type } from "typebox";
import { closed, SECRET_ID_PATTERN } from "../crds/schema.ts";
import { SharingRule } from "../crds/secret-sharing.ts";

/** Secret manager of the values of environments; it must not be changed while there are any. */
export const SecretManagerChoice = Type.Union(
  [
    closed({ kind: Type.Literal("embedded") }, { description: "Kubernetes Secrets in `secretsNamespace`." }),
    closed(
      {
        kind: Type.Literal("google"),
        project: Type.String({
          pattern: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$",
          description: "The id of the Google Cloud project that holds the secrets; best one of its own.",
        }),
        locations: Type.Optional(
          Type.Array(Type.String({ pattern: "^[a-z0-9-]+$" }), {
            uniqueItems: true,
            description: "Regions that hold the values, such as europe-west3; without any, Google chooses.",
          }),
        ),
        writesPerSecond: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: "Writes of a replica; 8 when left out. Google allows a project 600 a minute.",
          }),
        ),
      },
      { description: "Google Secret Manager, with the credentials that the pod's identity has." },
    ),
  ],
  {
    default: { kind: "embedded" },
    description:
      "Secret manager of the values of environments: Kubernetes Secrets in `secretsNamespace`, or Google Secret Manager. Not to be changed while there are any.",
  },
);

/** Format of a host that credentials may be sent to; its name is the text of the error. */
export const CREDENTIAL_HOST = "host in lower case, with its port unless that is 443, and without wildcards";

/**
 * A secret that is the credential of hosts. A setting, because the author of a Repository could otherwise have any
 * secret sent to a host of their own.
 */
const HostCredential = closed({
  id: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: SECRET_ID_PATTERN,
    description: "The id of the secret in the secret manager.",
  }),
  hosts: Type.Array(Type.String({ format: CREDENTIAL_HOST, maxLength: 260 }), {
    minItems: 1,
    description: "Git hosts and image registries, such as git.example.com; docker.io is Docker Hub.",
  }),
});

export const Secrets = closed(
  {
    shared: Type.Array(SharingRule, {
      default: [],
      description:
        "Secrets of the secret manager that environments of certain groups may refer to; a caller of the REST interface has to be in such a group, too.",
    }),
    hostCredentials: Type.Array(HostCredential, {
      default: [],
      description:
        "Secrets of the secret manager that Repositories may name as credentials, each `user:password`, and the only hosts that they are sent to.",
    }),
  },
  { default: {} },
);

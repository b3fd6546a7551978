import type { TSchema } from "typebox";
import { ApiTokenSpec, ApiTokenStatus, apiTokenRootRules } from "./api-token.schema.ts";
import { apiTokenKind } from "./api-token.ts";
import { ConfigSetSpec } from "./config-set.schema.ts";
import { configSetKind } from "./config-set.ts";
import { RecordSpec, RecordStatus } from "./environment/environment-record.schema.ts";
import { recordKind } from "./environment/environment-record.ts";
import { EnvironmentStatus } from "./environment/environment-status.schema.ts";
import { EnvironmentSpec, environmentRootRules, nameRootRules } from "./environment/ephemeral-environment.schema.ts";
import { environmentKind } from "./environment/ephemeral-environment.ts";
import type { Kind } from "./group.ts";
import { NotificationSpec, NotificationStatus } from "./notifications/notification.schema.ts";
import { notificationKind } from "./notifications/notification.ts";
import { RepositorySpec, RepositoryStatus } from "./repository/repository.schema.ts";
import { repositoryKind } from "./repository/repository.ts";
import type { CelRule } from "./schema.ts";
import { structural } from "./structural.ts";
import { WebhookDeliverySpec, WebhookDeliveryStatus } from "./webhooks/webhook-delivery.schema.ts";
import { webhookDeliveryKind } from "./webhooks/webhook-delivery.ts";

interface Definition {
  readonly kind: Kind;
  /** Text of `kubectl explain` for the kind. */
  readonly description: string;
  readonly shortName: string;
  readonly spec: TSchema;
  readonly status?: TSchema;
  readonly rootRules: readonly CelRule[];
  readonly columns: readonly {
    name: string;
    jsonPath: string;
    type: "string" | "date" | "integer" | "boolean";
    priority?: number;
  }[];
}

const AGE = { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" } as const;

const definitions: readonly Definition[] = [
  {
    kind: environmentKind,
    description: "A temporary deployment of a backend and a frontend with its own URLs, namespace and secrets.",
    shortName: "eenv",
    spec: EnvironmentSpec,
    status: EnvironmentStatus,
    rootRules: environmentRootRules,
    columns: [
      { name: "Phase", jsonPath: ".status.phase", type: "string" },
      { name: "URL", jsonPath: ".status.url", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      // A date column prints "<invalid>" for a moment in the future.
      { name: "Expires", jsonPath: ".status.expiresAt", type: "string" },
      { name: "Reason", jsonPath: '.status.conditions[?(@.type=="Ready")].reason', type: "string", priority: 1 },
      { name: "Branch", jsonPath: ".spec.backend.branch", type: "string", priority: 1 },
      { name: "Namespace", jsonPath: ".status.namespace", type: "string", priority: 1 },
      AGE,
    ],
  },
  {
    kind: repositoryKind,
    description:
      "A git repository that environments are deployed from: its image, its chart and its rules for webhooks.",
    shortName: "erepo",
    spec: RepositorySpec,
    status: RepositoryStatus,
    rootRules: nameRootRules("repository"),
    columns: [
      { name: "Type", jsonPath: ".spec.type", type: "string" },
      { name: "Image", jsonPath: ".spec.image.repository", type: "string" },
      { name: "Reachable", jsonPath: ".status.reachable", type: "boolean" },
      { name: "Webhook", jsonPath: '.status.conditions[?(@.type=="WebhookActive")].status', type: "string" },
      { name: "URL", jsonPath: ".spec.cloneUrl", type: "string", priority: 1 },
      { name: "Checked", jsonPath: ".status.lastCheckedAt", type: "date", priority: 1 },
      AGE,
    ],
  },
  {
    kind: configSetKind,
    description:
      "Defaults that environments share: chart values, variables, database, quota and TTL. Each change is a new version.",
    shortName: "ecfg",
    spec: ConfigSetSpec,
    rootRules: nameRootRules("configSet"),
    columns: [
      { name: "Version", jsonPath: ".metadata.generation", type: "integer" },
      { name: "Production", jsonPath: ".spec.production", type: "boolean" },
      { name: "TTL", jsonPath: ".spec.ttlDefaultHours", type: "integer" },
      { name: "Database", jsonPath: ".spec.database.enabled", type: "boolean", priority: 1 },
      { name: "Description", jsonPath: ".spec.description", type: "string", priority: 1 },
      AGE,
    ],
  },
  {
    kind: apiTokenKind,
    description: "A token for the REST interface, without its value. Its name is the beginning of the token's hash.",
    shortName: "etok",
    spec: ApiTokenSpec,
    status: ApiTokenStatus,
    rootRules: apiTokenRootRules,
    columns: [
      { name: "Prefix", jsonPath: ".spec.prefix", type: "string" },
      { name: "Token", jsonPath: ".spec.name", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      // A date column prints "<invalid>" for a moment in the future.
      { name: "Expires", jsonPath: ".spec.expiresAt", type: "string" },
      { name: "Used", jsonPath: ".status.lastUsedAt", type: "date" },
      { name: "Revoked", jsonPath: ".spec.revokedAt", type: "date" },
      { name: "Scopes", jsonPath: ".spec.scopes", type: "string", priority: 1 },
      AGE,
    ],
  },
  {
    kind: recordKind,
    description: "Facts about a deleted environment, for statistics and costs. Its name is the environment's UID.",
    shortName: "erec",
    spec: RecordSpec,
    status: RecordStatus,
    rootRules: [],
    columns: [
      { name: "Environment", jsonPath: ".spec.name", type: "string" },
      { name: "Reason", jsonPath: ".spec.reason", type: "string" },
      { name: "Phase", jsonPath: ".spec.phase", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      { name: "Deleted", jsonPath: ".spec.deletedAt", type: "date" },
      { name: "Cause", jsonPath: ".spec.cause", type: "string", priority: 1 },
      { name: "Failure", jsonPath: ".spec.failure", type: "string", priority: 1 },
      { name: "Teardown", jsonPath: ".spec.teardownSeconds", type: "integer", priority: 1 },
    ],
  },
  {
    kind: webhookDeliveryKind,
    description: "A webhook that was received, and what was done about it.",
    shortName: "ehook",
    spec: WebhookDeliverySpec,
    status: WebhookDeliveryStatus,
    rootRules: [],
    columns: [
      { name: "Event", jsonPath: ".spec.eventName", type: "string" },
      { name: "Action", jsonPath: ".spec.event.pullRequest.action", type: "string" },
      { name: "Outcome", jsonPath: ".status.phase", type: "string" },
      { name: "Reason", jsonPath: ".status.reason", type: "string" },
      { name: "Host", jsonPath: ".spec.host", type: "string", priority: 1 },
      { name: "Message", jsonPath: ".status.message", type: "string", priority: 1 },
      AGE,
    ],
  },
  {
    kind: notificationKind,
    description: "A message to a chat channel or to a person, and whether it was sent.",
    shortName: "enote",
    spec: NotificationSpec,
    status: NotificationStatus,
    rootRules: [],
    columns: [
      { name: "Channel", jsonPath: ".spec.channel", type: "string" },
      { name: "To", jsonPath: ".spec.to", type: "string" },
      { name: "Event", jsonPath: ".spec.event", type: "string" },
      { name: "Environment", jsonPath: ".spec.environment.name", type: "string" },
      { name: "Phase", jsonPath: ".status.phase", type: "string" },
      { name: "Attempts", jsonPath: ".status.attempts", type: "integer" },
      { name: "Next", jsonPath: ".status.nextAttemptAt", type: "string", priority: 1 },
      { name: "Message", jsonPath: ".status.message", type: "string", priority: 1 },
      AGE,
    ],
  },
];

/** CustomResourceDefinition manifest of every kind, by file name. */
export function customResourceDefinitions(): ReadonlyMap<string, object> {
  return new Map(definitions.map((definition) => [`${definition.kind.plural}.yaml`, manifest(definition)]));
}

function manifest(definition: Definition): object {
  const { kind, shortName, status, columns } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: [shortName],
        categories: ["ephemeral"],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          ...(status ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: rootSchema(definition) },
        },
      ],
    },
  };
}

function rootSchema({ description, spec, status, rootRules }: Definition): object {
  return {
    type: "object",
    description,
    required: ["spec"],
    properties: {
      // The API server has its own descriptions of these three.
      apiVersion: { type: "string" },
      kind: { type: "string" },
      // Declared, or rules on the name print "<nil>".
      metadata: { type: "object", properties: { name: { type: "string", maxLength: 253 } } },
      spec: structural(spec),
      ...(status ? { status: ownedAsOne(structural(status)) } : {}),
    },
    ...(rootRules.length === 0 ? {} : { "x-kubernetes-validations": rootRules }),
  };
}

/**
 * Makes a status atomic: only the operator writes it, and its tracked field managers were a third of an environment's
 * size.
 */
function ownedAsOne(schema: object): object {
  return { ...schema, "x-kubernetes-map-type": "atomic" };
}

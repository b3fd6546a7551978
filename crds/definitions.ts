import type { TSchema } from "typebox";
import { ApiTokenSpec, ApiTokenStatus, apiTokenRootRules } from "./api-token.schema.ts";
import { apiTokenKind } from "./api-token.ts";
import { ConfigSetSpec } from "./config-set.schema.ts";
import { configSetKind } from "./config-set.ts";
import { RecordSpec } from "./environment/environment-record.schema.ts";
import { recordKind } from "./environment/environment-record.ts";
import { EnvironmentStatus } from "./environment/environment-status.schema.ts";
import { EnvironmentSpec, nameRootRules } from "./environment/ephemeral-environment.schema.ts";
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
    shortName: "eenv",
    spec: EnvironmentSpec,
    status: EnvironmentStatus,
    rootRules: nameRootRules("environment"),
    columns: [
      { name: "Phase", jsonPath: ".status.phase", type: "string" },
      { name: "URL", jsonPath: ".status.url", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      // A printer column of type date prints "<invalid>" for a moment in the future.
      { name: "Expires", jsonPath: ".status.expiresAt", type: "string" },
      AGE,
    ],
  },
  {
    kind: repositoryKind,
    shortName: "erepo",
    spec: RepositorySpec,
    status: RepositoryStatus,
    rootRules: nameRootRules("repository"),
    columns: [
      { name: "Type", jsonPath: ".spec.type", type: "string" },
      { name: "Image", jsonPath: ".spec.image.repository", type: "string" },
      { name: "Reachable", jsonPath: ".status.reachable", type: "boolean" },
      AGE,
    ],
  },
  {
    kind: configSetKind,
    shortName: "ecfg",
    spec: ConfigSetSpec,
    rootRules: nameRootRules("configSet"),
    columns: [
      { name: "Version", jsonPath: ".metadata.generation", type: "integer" },
      { name: "Production", jsonPath: ".spec.production", type: "boolean" },
      { name: "TTL", jsonPath: ".spec.ttlDefaultHours", type: "integer" },
      { name: "Description", jsonPath: ".spec.description", type: "string", priority: 1 },
      AGE,
    ],
  },
  {
    kind: apiTokenKind,
    shortName: "etok",
    spec: ApiTokenSpec,
    status: ApiTokenStatus,
    rootRules: apiTokenRootRules,
    columns: [
      { name: "Prefix", jsonPath: ".spec.prefix", type: "string" },
      { name: "Token", jsonPath: ".spec.name", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      // A printer column of type date prints "<invalid>" for a moment in the future.
      { name: "Expires", jsonPath: ".spec.expiresAt", type: "string" },
      { name: "Used", jsonPath: ".status.lastUsedAt", type: "date" },
      { name: "Revoked", jsonPath: ".spec.revokedAt", type: "date" },
      AGE,
    ],
  },
  {
    kind: recordKind,
    shortName: "erec",
    spec: RecordSpec,
    rootRules: [],
    columns: [
      { name: "Environment", jsonPath: ".spec.name", type: "string" },
      { name: "Reason", jsonPath: ".spec.reason", type: "string" },
      { name: "Phase", jsonPath: ".spec.phase", type: "string" },
      { name: "Owner", jsonPath: ".spec.owner.email", type: "string" },
      { name: "Deleted", jsonPath: ".spec.deletedAt", type: "date" },
    ],
  },
  {
    kind: webhookDeliveryKind,
    shortName: "ehook",
    spec: WebhookDeliverySpec,
    status: WebhookDeliveryStatus,
    rootRules: [],
    columns: [
      { name: "Event", jsonPath: ".spec.eventName", type: "string" },
      { name: "Action", jsonPath: ".spec.event.pullRequest.action", type: "string" },
      { name: "Outcome", jsonPath: ".status.phase", type: "string" },
      { name: "Reason", jsonPath: ".status.reason", type: "string" },
      AGE,
    ],
  },
  {
    kind: notificationKind,
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
      AGE,
    ],
  },
];

/** The CustomResourceDefinition manifest of every kind, by the name of its file. */
export function customResourceDefinitions(): ReadonlyMap<string, object> {
  return new Map(definitions.map((definition) => [`${definition.kind.plural}.yaml`, manifest(definition)]));
}

function manifest({ kind, shortName, spec, status, rootRules, columns }: Definition): object {
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
          schema: { openAPIV3Schema: rootSchema(spec, status, rootRules) },
        },
      ],
    },
  };
}

function rootSchema(spec: TSchema, status: TSchema | undefined, rootRules: readonly CelRule[]): object {
  return {
    type: "object",
    required: ["spec"],
    properties: {
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
 * Only the operator writes a status, so the API server need not track the managers of its fields, which were a third of an
 * environment's size.
 */
function ownedAsOne(schema: object): object {
  return { ...schema, "x-kubernetes-map-type": "atomic" };
}

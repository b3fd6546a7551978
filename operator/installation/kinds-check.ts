import { apiTokenKind } from "../../crds/api-token.ts";
import { configSetKind } from "../../crds/config-set.ts";
import { recordKind } from "../../crds/environment/environment-record.ts";
import { environmentKind } from "../../crds/environment/ephemeral-environment.ts";
import { GROUP, VERSION } from "../../crds/group.ts";
import { notificationKind } from "../../crds/notifications/notification.ts";
import { repositoryKind } from "../../crds/repository/repository.ts";
import { webhookDeliveryKind } from "../../crds/webhooks/webhook-delivery.ts";
import { insteadOf, isNotFound } from "../kit/client/errors.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Check } from "./check.ts";

const PATH = `/apis/${GROUP}/${VERSION}`;
const LIMIT_BYTES = 1024 ** 2;

const kinds = [
  ...[environmentKind, repositoryKind, configSetKind, apiTokenKind],
  ...[notificationKind, recordKind, webhookDeliveryKind],
];

/** The API server serves every kind of the platform. */
export const kindsCheck: Check = {
  name: "the kinds are served",

  async problems({ client }) {
    const served = await servedResources(client);
    const missing = kinds.map(({ plural }) => plural).filter((plural) => !served.has(plural));
    return missing.map(
      (plural) => `the API server does not serve ${plural}.${GROUP}: look at kubectl describe crd ${plural}.${GROUP}`,
    );
  },
};

async function servedResources(client: KubeClient): Promise<ReadonlySet<string>> {
  const text = await client.text(PATH, {}, { limitBytes: LIMIT_BYTES }).catch(insteadOf(isNotFound, "{}"));
  const { resources = [] } = JSON.parse(text) as { resources?: readonly { readonly name: string }[] };
  return new Set(resources.map(({ name }) => name));
}

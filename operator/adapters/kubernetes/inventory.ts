import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { PLATFORM_KEYS_OWNER } from "../../../crds/notifications/extension-token.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../kit/client/objects.ts";
import { BY_UID, type Caches } from "../../ports/caches.ts";
import type { Inventory } from "../../ports/namespace-contents.ts";
import { apiTokenType, environmentType } from "./kinds.ts";

interface Context {
  readonly client: KubeClient;
  readonly caches: Caches;
  /** The platform's own. */
  readonly namespace: string;
  readonly deployerKinds: readonly { readonly type: ResourceType }[];
}

/** Inventory port on the Kubernetes API and the watch caches. */
export function kubernetesInventory({ client, caches, namespace, deployerKinds }: Context): Inventory {
  const belongingKinds = [namespaceKind, ...deployerKinds.map(({ type }) => type)];
  const livingTokens = () => uidsOf(client, apiTokenType, namespace);
  return {
    livingTokens,
    async livingUids() {
      const [environments, tokens] = await Promise.all([uidsOf(client, environmentType), livingTokens()]);
      return { environments, tokens };
    },
    liveEnvironments: async () => (await client.list(environmentType, { keep: onlyConfigSet })).items,
    isKnown: (uid) =>
      uid === PLATFORM_KEYS_OWNER.uid ||
      [caches.environments, caches.apiTokens].some((cache) => cache.by(BY_UID, uid).length > 0),
    belongings: () => belongingKinds.flatMap(({ plural }) => caches.children.get(plural)?.list() ?? []),
  };
}

async function uidsOf<T extends KubeObject>(client: KubeClient, type: ResourceType<T>, namespace?: string) {
  const where = namespace === undefined ? {} : { namespace };
  const { items } = await client.list(type, { ...where, metadataOnly: true, keep: onlyUid });
  return items.map(({ metadata }) => metadata.uid);
}

// Keeps only these fields of ten thousand objects, page by page.
const onlyUid = <T extends KubeObject>({ metadata: { uid } }: T) => ({ metadata: { uid } }) as T;

function onlyConfigSet({ spec, status }: EphemeralEnvironment): EphemeralEnvironment {
  return { spec: { configSet: spec.configSet }, status: { configSet: status?.configSet } } as EphemeralEnvironment;
}

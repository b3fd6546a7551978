import { insteadOf, isNotFound } from "./errors.ts";
import type { Call, KubeExchange } from "./exchange.ts";
import type { KubeClient } from "./kube-client.ts";
import {
  apiVersionOf,
  type Draft,
  type KubeObject,
  type ObjectRef,
  type ResourceType,
  refOf,
  resourcePath,
} from "./objects.ts";
import { objectOf } from "./reads.ts";
import type { KubeResponse, Verb } from "./request.ts";

const CONTENT_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  // JSON is YAML.
  apply: "application/apply-patch+yaml",
} as const;

/** Write methods of the client: every write names the field manager and is sent once. */
export function kubeWrites(
  exchange: KubeExchange,
  fieldManager: string,
): Pick<KubeClient, "create" | "patch" | "replace" | "delete"> {
  const query = { fieldManager, fieldValidation: "Strict" };

  return {
    async create(type, draft, options) {
      const { name, ...place } = refOf(draft.metadata);
      const path = resourcePath(type, place);
      const call = { verb: "create", method: "POST", type, name, ...place, path, body: complete(type, draft) } as const;
      const how = options?.dryRun ? { ...query, dryRun: "All" } : query;
      return objectOf(await exchange.once({ ...call, query: how }, options?.signal));
    },
    async patch(type, ref, body, { as, subresource, signal }) {
      const target = { ...refOf(ref), subresource };
      const how = as === "apply" ? { ...query, force: "true" } : query;
      const call = { ...write("patch", "PATCH", type, target), query: how, body, contentType: CONTENT_TYPES[as] };
      return objectOf(await exchange.once(call, signal));
    },
    async replace(type, draft, options) {
      const call = write("update", "PUT", type, refOf(draft.metadata));
      return objectOf(await exchange.once({ ...call, query, body: complete(type, draft) }, options?.signal));
    },
    async delete<T extends KubeObject>(...[type, ref, options = {}]: Parameters<KubeClient["delete"]>) {
      const { signal, gracePeriodSeconds, ...preconditions } = options;
      const kind = { apiVersion: "v1", kind: "DeleteOptions" };
      const body = { ...kind, propagationPolicy: "Background", preconditions, gracePeriodSeconds };
      const call = { ...write("delete", "DELETE", type, refOf(ref)), query: {}, body };
      return exchange
        .once(call, signal)
        .then(remainsOf<T>)
        .catch(insteadOf(isNotFound, "gone"));
    },
  };
}

type Target = ObjectRef & Pick<Call, "subresource">;

function write(verb: Verb, method: Call["method"], type: ResourceType, target: Target): Omit<Call, "query"> {
  return { verb, method, type, ...target, path: resourcePath(type, target) };
}

function complete<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>): object {
  return { ...draft, apiVersion: draft.apiVersion ?? apiVersionOf(type), kind: draft.kind ?? type.kind };
}

/** A removed object is answered as a `Status`, or (some built-in kinds) in its last state, without deletion time. */
function remainsOf<T extends KubeObject>(response: KubeResponse): T | "gone" {
  const object = objectOf<T>(response);
  return object.kind === "Status" || object.metadata.deletionTimestamp === undefined ? "gone" : object;
}

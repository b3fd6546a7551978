import { isNotFound } from "./errors.ts";
import type { Call, KubeExchange } from "./exchange.ts";
import type { KubeClient } from "./kube-client.ts";
import {
  apiVersionOf,
  type Draft,
  type KubeObject,
  type ObjectRef,
  type ResourceType,
  resourcePath,
} from "./objects.ts";
import { objectOf } from "./reads.ts";
import type { KubeResponse, Verb } from "./request.ts";

const CONTENT_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const;

/** The writing half of the client: every write names the field manager, and none is sent twice. */
export function kubeWrites(
  exchange: KubeExchange,
  fieldManager: string,
): Pick<KubeClient, "create" | "patch" | "replace" | "delete"> {
  const query = { fieldManager, fieldValidation: "Strict" };

  return {
    async create(type, draft, options = {}) {
      const target = draftTarget(draft, options.subresource);
      const path = resourcePath(type, options.subresource === undefined ? placeOf(draft) : target);
      const call = { ...write("create", "POST", type, target), path, query, body: complete(type, draft) };
      return objectOf(await exchange.once(call, options.signal));
    },
    async patch(type, ref, body, options) {
      const target = { ...named(ref), ...subresourceOf(options.subresource) };
      const call = { ...write("patch", "PATCH", type, target), query, body, contentType: CONTENT_TYPES[options.as] };
      return objectOf(await exchange.once(call, options.signal));
    },
    async replace(type, draft, options = {}) {
      const call = write("update", "PUT", type, draftTarget(draft, options.subresource));
      return objectOf(await exchange.once({ ...call, query, body: complete(type, draft) }, options.signal));
    },
    async delete<T extends KubeObject>(...[type, ref, options = {}]: Parameters<KubeClient["delete"]>) {
      const { signal, ...conditions } = options;
      const call = { ...write("delete", "DELETE", type, named(ref)), query: {}, body: deleteBody(conditions) };
      try {
        return remainsOf<T>(await exchange.once(call, signal));
      } catch (error) {
        if (isNotFound(error)) return "gone";
        throw error;
      }
    },
  };
}

interface Target extends ObjectRef {
  readonly subresource?: string;
}

function write(verb: Verb, method: Call["method"], type: ResourceType, target: Target): Omit<Call, "query"> {
  return { verb, method, type, ...target, path: resourcePath(type, target) };
}

function draftTarget<T extends KubeObject>(draft: Draft<T>, subresource?: string): Target {
  return { name: draft.metadata.name, ...placeOf(draft), ...subresourceOf(subresource) };
}

function placeOf(draft: { readonly metadata: { readonly namespace?: string } }): { readonly namespace?: string } {
  return draft.metadata.namespace === undefined ? {} : { namespace: draft.metadata.namespace };
}

/** Drops what a caller's wider object carries besides the reference, such as a whole metadata. */
function named(ref: ObjectRef): ObjectRef {
  return ref.namespace === undefined ? { name: ref.name } : { name: ref.name, namespace: ref.namespace };
}

function subresourceOf(subresource: string | undefined): { readonly subresource?: string } {
  return subresource === undefined ? {} : { subresource };
}

function complete<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>): object {
  return { ...draft, apiVersion: draft.apiVersion ?? apiVersionOf(type), kind: draft.kind ?? type.kind };
}

function deleteBody(conditions: {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: string;
}): object {
  const { propagationPolicy = "Background", ...preconditions } = conditions;
  return { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy, preconditions };
}

/** A removed object is answered as a `Status`, or (some built-in kinds) as it last was, without a deletion timestamp. */
function remainsOf<T extends KubeObject>(response: KubeResponse): T | "gone" {
  const object = objectOf<T>(response);
  return object.kind === "Status" || object.metadata.deletionTimestamp === undefined ? "gone" : object;
}

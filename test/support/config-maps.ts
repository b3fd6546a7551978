import { type KubeObject, resourceType } from "../../operator/kit/kube-object.ts";

/** A small kind that every API server has. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
});

/** A stored ConfigMap in the namespace `ns`; its uid is its name's unless given. */
export function configMap(
  name: string,
  resourceVersion: string,
  more: { readonly uid?: string; readonly data?: Readonly<Record<string, string>> } = {},
): ConfigMap {
  const { uid = `uid-of-${name}`, data } = more;
  const metadata = { name, namespace: "ns", uid, resourceVersion, creationTimestamp: "2026-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...(data === undefined ? {} : { data }) };
}

/** The body of a list of them. */
export function configMapList(items: readonly ConfigMap[], resourceVersion: string, continueToken?: string): object {
  const metadata = { resourceVersion, ...(continueToken === undefined ? {} : { continue: continueToken }) };
  return { apiVersion: "v1", kind: "ConfigMapList", metadata, items };
}

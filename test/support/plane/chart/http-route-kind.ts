import { until } from "../../fixtures/until.ts";
import type { ApiCalls } from "../api-calls.ts";
import { given } from "./environment-objects.ts";

const group = "gateway.networking.k8s.io";
/** Admission does not depend on the real schema. */
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const schema = { openAPIV3Schema: { type: "object", properties: { spec: anything } } };
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/**
 * Defines the kind HTTPRoute for admission tests: the real definition comes with a gateway. `path` is for creations (none is
 * kept). One suite at a time.
 */
export async function httpRouteKind(
  admin: ApiCalls,
): Promise<{ path(namespace: string, version?: "v1" | "v1beta1"): string; remove(): Promise<void> }> {
  const name = `httproutes.${group}`;
  await given(admin, definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name, annotations: { "api-approved.kubernetes.io": "unapproved, for tests" } },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "HTTPRoute", listKind: "HTTPRouteList", plural: "httproutes", singular: "httproute" },
      // Versions of current gateways, both of the same kind.
      versions: [
        { name: "v1", served: true, storage: true, schema },
        { name: "v1beta1", served: true, storage: false, schema },
      ],
    },
  });
  const path = (namespace: string, version = "v1") =>
    `/apis/${group}/${version}/namespaces/${namespace}/httproutes?dryRun=All`;
  const check = async () => (await admin.get(path("default"))).status === 200;
  await until(check, { what: "HTTPRoutes to be served", deadlineMs: 20_000 });
  return {
    path,
    async remove() {
      await admin.delete(`${definitions}/${name}`);
    },
  };
}

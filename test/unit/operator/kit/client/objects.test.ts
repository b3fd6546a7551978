import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { keyOf, keyOfRef, resourcePath, resourceType } from "../../../../../operator/kit/client/objects.ts";
import { configMap, configMaps } from "../../../../support/fixtures/config-maps.ts";

const nodes = resourceType({ group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false });
const applications = resourceType({
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
});

describe("resourcePath", () => {
  test.each([
    { name: "a core collection across namespaces", type: configMaps, parts: {}, path: "/api/v1/configmaps" },
    {
      name: "a collection in a namespace",
      type: configMaps,
      parts: { namespace: "ns" },
      path: "/api/v1/namespaces/ns/configmaps",
    },
    { name: "a cluster-scoped object", type: nodes, parts: { name: "n" }, path: "/api/v1/nodes/n" },
    {
      name: "a subresource in a group",
      type: applications,
      parts: { name: "a", namespace: "argocd", subresource: "status" },
      path: "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/a/status",
    },
    { name: "capitals stay", type: nodes, parts: { name: "Foo" }, path: "/api/v1/nodes/Foo" },
    { name: "slashes are encoded", type: nodes, parts: { name: "a/b?c" }, path: "/api/v1/nodes/a%2Fb%3Fc" },
  ])("$name", ({ type, parts, path }) => {
    expect(resourcePath(type, parts)).toBe(path);
  });

  test("a name never leaves its segment", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (name) => {
        fc.pre(name !== "." && name !== ".." && name.isWellFormed());
        const url = new URL(resourcePath(nodes, { name }), "http://server");
        expect(url.pathname.split("/").length).toBe(5);
        expect(url.search + url.hash).toBe("");
      }),
    );
  });

  test.each(["", ".", ".."])("the segment %p is refused", (name) => {
    expect(() => resourcePath(nodes, { name })).toThrow(TypeError);
  });

  test("an object of a namespaced kind needs its namespace", () => {
    expect(() => resourcePath(configMaps, { name: "a" })).toThrow(TypeError);
  });
});

test("a key names its object", () => {
  expect(keyOf(configMap("a", "1"))).toBe("ns/a");
  expect(keyOfRef({ name: "n" })).toBe("n");
});

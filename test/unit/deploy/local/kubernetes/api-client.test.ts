import { describe, expect, test } from "@jest/globals";
import { parseManifests, pathOf } from "../../../../../deploy/local/kubernetes/api-client.ts";
import { kubeconfigObject } from "../../../../../deploy/local/kubernetes/kubeconfig.ts";

describe("manifests", () => {
  test("are read from all documents; empty ones are ignored", () => {
    const yaml = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n# nothing\n---\nkind: Secret\n";
    expect(parseManifests(yaml).map(({ kind }) => kind)).toEqual(["Namespace", "Secret"]);
  });

  test("that are broken are refused", () => {
    expect(() => parseManifests("a: [")).toThrow();
  });

  const manifest = (kind: string, namespace?: string) => ({
    apiVersion: "v1",
    kind,
    metadata: { name: "x", ...(namespace && { namespace }) },
  });

  test.each([
    { given: manifest("Namespace"), expected: "/api/v1/namespaces/x" },
    { given: manifest("ConfigMap", "argocd"), expected: "/api/v1/namespaces/argocd/configmaps/x" },
    { given: manifest("ConfigMap"), expected: "/api/v1/namespaces/default/configmaps/x" },
  ])("have the path $expected", ({ given, expected }) => {
    expect(pathOf(given)).toBe(expected);
  });

  test("of a kind that has no path are refused by name", () => {
    expect(() => pathOf(manifest("Widget"))).toThrow("Widget");
  });
});

describe("a kubeconfig", () => {
  const access = { cluster: { server: "https://127.0.0.1:6443" }, user: "admin" };

  test("holds the credentials of the identity, and no empty fields", () => {
    expect(kubeconfigObject({ ...access, token: "t", namespace: "argocd" })).toMatchObject({
      users: [{ name: "admin", user: { token: "t" } }],
      contexts: [{ context: { cluster: "local", user: "admin", namespace: "argocd" } }],
    });
    expect(kubeconfigObject({ ...access, clientCertificate: { key: "/k", certificate: "/c" } })).toMatchObject({
      users: [{ user: { "client-certificate": "/c", "client-key": "/k" } }],
    });
  });
});

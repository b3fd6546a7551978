import { describe, expect, test } from "@jest/globals";
import { managedBy, mayReturn, notedCause, writtenFromGit } from "../../../../crds/environment/managed-by.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const tracked = { annotations: { "argocd.argoproj.io/tracking-id": "apps:ephemeral-environments.dev/…" } };

describe("the GitOps tool of an environment", () => {
  test.each<[string, object, string | undefined]>([
    ["Argo CD's annotation", tracked, "argocd"],
    ["Argo CD's label", { labels: { "app.kubernetes.io/instance": "apps" } }, "argocd"],
    ["Flux's label of a Kustomization", { labels: { "kustomize.toolkit.fluxcd.io/name": "apps" } }, "flux"],
    [
      "Flux's label of a HelmRelease, whose chart has the other one",
      { labels: { "helm.toolkit.fluxcd.io/name": "apps", "app.kubernetes.io/instance": "apps" } },
      "flux",
    ],
    ["nothing", { labels: { team: "shop" }, annotations: { note: "" } }, undefined],
  ])("is known by %s", (_mark, metadata, tool) => {
    expect(managedBy(environmentFixture({ metadata }))).toBe(tool);
  });

  test("wrote what its own field manager wrote, and no status", () => {
    const own = { manager: "argocd-controller", fieldsV1: {} };
    const managedFields = [own, { ...own, subresource: "status" }, { ...own, manager: "kubectl-edit" }];
    expect(writtenFromGit(environmentFixture({ metadata: { ...tracked, managedFields } }))).toEqual([own]);
    expect(writtenFromGit(environmentFixture({ metadata: { managedFields } }))).toEqual([]);
  });
});

describe("the cause of a deletion", () => {
  test.each<[string, Parameters<typeof environmentFixture>[0], boolean]>([
    ["is noted where Git brings the environment back", { metadata: tracked }, true],
    ["is noted where a pull request does", { spec: { trigger: { kind: "pull_request", number: 7 } } }, true],
    ["is noted where a pipeline does", { spec: { trigger: { kind: "pipeline" } } }, true],
    ["is not noted where REST made it", { spec: { trigger: { kind: "api" } } }, false],
    ["is not noted where kubectl made it", {}, false],
  ])("%s", (_case, parts, may) => {
    expect(mayReturn(environmentFixture(parts))).toBe(may);
  });

  test.each([
    ["deletedByUser", "deletedByUser"],
    ["cleanup", "cleanup"],
    ["whim", undefined],
  ])("the annotation %s says %s", (value, cause) => {
    const annotations = { "ephemeral-environments.dev/deletion-cause": value };
    expect(notedCause(environmentFixture({ metadata: { annotations } }))).toBe(cause);
  });
});

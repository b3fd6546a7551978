import { describe, expect, test } from "@jest/globals";
import type { ChartSource } from "../../../../../crds/repository/chart-source.ts";
import { applicationObject, projectObject } from "../../../../../operator/adapters/argocd/objects.ts";
import { UID } from "../../../../support/fixtures/environment/environment-fixture.ts";

const environment = { name: "shop", uid: UID };
const settings = { namespace: "argocd", clusterServer: "https://kubernetes.default.svc" };
const helm = { releaseName: "environment", valuesObject: { a: 1 } };

describe("the chart of an application", () => {
  test.each<[string, ChartSource, object]>([
    [
      "a git repository is a folder at a revision",
      { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main" },
      { repoURL: "https://git.test/charts.git", path: "shop", targetRevision: "main" },
    ],
    [
      "a Helm repository is a chart at a version",
      { repoUrl: "https://charts.test/stable", chart: "shop", version: "1.2.3+7" },
      { repoURL: "https://charts.test/stable", chart: "shop", targetRevision: "1.2.3+7" },
    ],
    [
      "an OCI registry is a repository of it at a tag",
      { repoUrl: "oci://registry.test/charts", chart: "shop", version: "1.2.3+7" },
      { repoURL: "oci://registry.test/charts/shop", path: ".", targetRevision: "1.2.3_7" },
    ],
  ])("of %s, and its project admits that place alone", (_, chart, source) => {
    const application = applicationObject(
      { environment, chart, values: { a: 1 }, sources: {}, leavesReplicas: false },
      settings,
    );
    expect(application.spec).toMatchObject({ source: { ...source, helm } });
    expect(Object.keys((application.spec as { source: object }).source)).toHaveLength(4);
    const project = projectObject(environment, chart, settings);
    expect(project.spec).toMatchObject({ sourceRepos: [(source as { repoURL: string }).repoURL] });
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { whyNoDeployer, whyNoPolicies, whyTooOld } from "../../../../../deploy/local/existing/cluster.ts";

const kind = (name: string) => `customresourcedefinition.apiextensions.k8s.io/${name}.argoproj.io\n`;
const namespace = "namespace/argocd\n";
const account = "serviceaccount/argocd-application-controller\n";

describe("an existing cluster", () => {
  test.each([
    {
      name: "with Argo CD is taken",
      found: kind("applications") + kind("appprojects") + namespace + account,
      says: [],
    },
    {
      name: "with an Argo CD of another name learns where to say it",
      found: kind("applications") + kind("appprojects") + namespace,
      says: [expect.stringContaining("set deployer.serviceAccount")],
    },
    {
      name: "without its kinds learns what to install",
      found: namespace + account,
      says: [
        "The cluster has no applications.argoproj.io, appprojects.argoproj.io: install Argo CD (https://argo-cd.readthedocs.io/en/stable/getting_started/).",
      ],
    },
    {
      name: "with one of its kinds learns the other",
      found: kind("applications") + namespace + account,
      says: [expect.stringContaining("no appprojects.argoproj.io:")],
    },
    {
      name: "with Argo CD elsewhere learns the setting",
      found: kind("applications") + kind("appprojects"),
      says: [expect.stringContaining("the setting deployer.namespace")],
    },
    {
      name: "without anything of it learns all that is missing",
      found: "",
      says: [expect.stringContaining("install Argo CD"), expect.stringContaining("the setting deployer.namespace")],
    },
  ])("$name", ({ found, says }) => {
    expect(whyNoDeployer(found, "argocd")).toEqual(says);
  });

  test.each([
    { major: "1", minor: "33", says: undefined },
    { major: "1", minor: "36+", says: undefined },
    { major: "2", minor: "0", says: undefined },
    { major: "1", minor: "32+", says: "The cluster is Kubernetes 1.32+; 1.33 or newer is needed." },
  ])("of version $major.$minor", ({ says, ...version }) => {
    expect(whyTooOld(version)).toBe(says);
  });

  test("is reported when its API server has no policies", () => {
    expect(whyNoPolicies(["mutatingwebhookconfigurations", "validatingadmissionpolicies"])).toEqual([]);
    expect(whyNoPolicies(["mutatingwebhookconfigurations"])).toEqual([expect.stringContaining("turn them on")]);
  });

  test("is refused for the same versions as by the platform's chart", () => {
    const chart = new URL("../../../../../deploy/charts/platform/Chart.yaml", import.meta.url);
    const [, oldest = ""] = /^>=1\.(\d+)\.0-0$/.exec(parse(readFileSync(chart, "utf8")).kubeVersion) ?? [];
    expect(whyTooOld({ major: "1", minor: oldest })).toBeUndefined();
    expect(whyTooOld({ major: "1", minor: `${Number(oldest) - 1}` })).toContain(`; 1.${oldest} or newer is needed`);
  });
});

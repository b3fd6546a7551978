import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { exampleSettings, readInputs } from "../../../../../deploy/local/existing/inputs.ts";

describe("what CLUSTER=existing is given", () => {
  test("are a kubeconfig and settings; the example is complete", () => {
    const { kubeconfig, settings } = readInputs({ KUBECONFIG: "one:/two", SETTINGS: exampleSettings });
    expect(kubeconfig).toBe(`${resolve("one")}:/two`);
    expect(settings).toMatchObject({
      baseDomain: "env.example.com",
      defaultChart: { path: "deploy/charts/environment" },
      api: { issuers: [{ audience: "ephemeral-environments" }] },
      namespace: "ephemeral-system",
    });
  });

  test("are kubectl's own kubeconfig, where none is named", async () => {
    const home = await mkdtemp(join(tmpdir(), "home-"));
    try {
      await mkdir(join(home, ".kube"));
      await writeFile(join(home, ".kube/config"), "");
      expect(readInputs({ SETTINGS: exampleSettings }, home).kubeconfig).toBe(join(home, ".kube/config"));
    } finally {
      await rm(home, { recursive: true });
    }
  });

  test.each([
    {
      name: "the kubeconfig",
      given: { SETTINGS: exampleSettings },
      says: /needs KUBECONFIG=<path>.*no \/nowhere\/\.kube\/config/,
    },
    {
      name: "the settings",
      given: { KUBECONFIG: "/k" },
      says: /^CLUSTER=existing needs SETTINGS=<file> with the base domain, the default chart and the issuers .*deploy\/examples\/settings\.yaml/,
    },
    { name: "a settings file", given: { KUBECONFIG: "/k", SETTINGS: "/nowhere" }, says: /\/nowhere can't be read/ },
  ])("is asked for in one sentence: $name", ({ given, says }) => {
    expect(() => readInputs(given, "/nowhere")).toThrow(says);
  });
});

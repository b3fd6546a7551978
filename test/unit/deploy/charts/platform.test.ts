import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { Settings } from "../../../../config/settings.schema.ts";
import { settingsFrom } from "../../../../config/settings.ts";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram, lintChart, renderChart } from "../../../../deploy/local/kubernetes/helm.ts";
import { image, release, rendered, settings, settingsOf } from "./rendered-platform.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("satisfies helm's linter", async () => {
    expect(await lintChart({ ...release, values: { settings, image } })).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test("brings every kind that is generated, as it is, and keeps it when it is uninstalled", async () => {
    const definitions = (await rendered()).filter(({ kind }) => kind === "CustomResourceDefinition");
    const generated = readdirSync(`${root}/deploy/charts/platform/definitions`);
    expect(definitions.map(({ spec }) => spec)).toEqual(
      generated.map(
        (name) => (parse(readFileSync(`${root}/deploy/charts/platform/definitions/${name}`, "utf8")) as Manifest).spec,
      ),
    );
    for (const { metadata } of definitions) {
      expect(metadata).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } });
    }
  });

  test("gives Artifact Hub its kinds, and an example that the API server's schema admits", async () => {
    const chart = parse(readFileSync(`${root}/deploy/charts/platform/Chart.yaml`, "utf8"));
    const reported = parse(chart.annotations["artifacthub.io/crds"]) as {
      kind: string;
      name: string;
      version: string;
    }[];
    const definitions = (await rendered()).filter(({ kind }) => kind === "CustomResourceDefinition");
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    expect(reported.map(({ kind, name, version }) => ({ kind, name, version })).sort(byName)).toEqual(
      definitions
        .map(({ metadata, spec }) => {
          const { names, versions } = spec as { names: { kind: string }; versions: { name: string }[] };
          return { kind: names.kind, name: metadata.name, version: versions[0]?.name };
        })
        .sort(byName),
    );
    const [example] = parse(chart.annotations["artifacthub.io/crdsExamples"]) as Manifest[];
    expect(example).toEqual(parse(readFileSync(`${root}/deploy/examples/environment.yaml`, "utf8")));
  });

  test("ships the health check of environments for argocd-cm, as its file has it", async () => {
    const [found] = (await rendered()).filter(({ metadata }) => metadata.name === "argocd-health");
    const lua = readFileSync(`${root}/deploy/charts/platform/files/argocd-health.lua`, "utf8");
    expect(found?.data).toEqual({
      "resource.customizations.health.ephemeral-environments.dev_EphemeralEnvironment": lua,
    });
  });

  test("is judged by the version that the cluster says of itself, not by helm's own", async () => {
    const values = { settings, image };
    for (const kubeVersion of ["v1.33.0", "v1.33.1-gke.1107000", "v1.34.2+k3s1", "v1.40.0-alpha.1"]) {
      expect(await renderChart({ ...release, values, kubeVersion })).not.toEqual([]);
    }
    const tooOld = renderChart({ ...release, values, kubeVersion: "v1.32.9-eks-3025e55" });
    await expect(tooOld).rejects.toThrow("which is incompatible with Kubernetes v1.32.9");
  });

  test("writes settings that the operator accepts", async () => {
    const given = { ...settings, publicPort: 18443, api: { trustedProxyHops: 1 } };
    const written = settingsFrom(settingsOf(await rendered({ settings: given })));
    expect(written).toMatchObject({ ...given, namespace: "ephemeral-system", serviceAccount: "platform" });
  });

  test("expects one proxy and settles before it stops, in a pod only and unless its settings say otherwise", async () => {
    expect(settingsOf(await rendered())).toMatchObject({ api: { settleSeconds: 5, trustedProxyHops: 1 } });
    const api = { settleSeconds: 0, trustedProxyHops: 2 };
    expect(settingsOf(await rendered({ settings: { ...settings, api } }))).toMatchObject({ api });
    const outside = settingsFrom(settingsOf(await rendered({ operator: { enabled: false } })));
    expect(outside.api).toMatchObject({ settleSeconds: 0, trustedProxyHops: 0 });
  });

  test("knows every setting, and refuses unknown ones", async () => {
    const schema = JSON.parse(readFileSync(`${root}/deploy/charts/platform/values.schema.json`, "utf8"));
    expect(Object.keys(schema.properties.settings.properties).sort()).toEqual(Object.keys(Settings.properties).sort());
  });

  test.each([
    ["an unknown setting", { settings: { ...settings, baseDomian: "x" } }, /baseDomian/],
    ["no base domain", { settings: { ...settings, baseDomain: undefined } }, /baseDomain/],
    [
      "a base domain that would end a policy's string",
      { settings: { ...settings, baseDomain: "x' || true" } },
      /baseDomain/,
    ],
    [
      "another namespace than the release's",
      { settings: { ...settings, namespace: "other" } },
      /leave the setting out/,
    ],
    ["no image for the operator", { image: {} }, /image.repository is required/],
    [
      "an annotation that would end a policy's string",
      { environments: { ingressAnnotations: ["x/y', '*"] } },
      /ingressAnnotations/,
    ],
    ["every annotation", { environments: { ingressAnnotations: ["*"] } }, /ingressAnnotations/],
    [
      "a repository that would end a policy's string",
      { environments: { chartRepositories: ["https://x'*"] } },
      /chartRepositories/,
    ],
    [
      "a registry that would end a policy's string",
      { environments: { chartRepositories: ["oci://x'*"] } },
      /chartRepositories/,
    ],
    [
      "a scheduler that would end a policy's string",
      { environments: { pods: { schedulers: ["x', 'y"] } } },
      /schedulers/,
    ],
    [
      "a toleration that would end a policy's string",
      { environments: { pods: { tolerations: [{ key: "x", value: "y'}" }] } } },
      /tolerations/,
    ],
    ["a toleration of every taint", { environments: { pods: { tolerations: [{ operator: "Exists" }] } } }, /key/],
    ...[
      "storageClasses",
      "claimDataSources",
      "ingressClasses",
      "gateways",
      "serviceAccountAnnotations",
      "finalizers",
    ].map((name): [string, object, RegExp] => [
      `what would end a policy's string in ${name}`,
      { environments: { [name]: ["a/b', 'c"] } },
      new RegExp(name),
    ]),
    [
      "a storage class of databases that would end a policy's string",
      { settings: { ...settings, database: { storageClass: "x', 'y" } } },
      /storageClass/,
    ],
    [
      "an audience that would end a policy's string",
      { environments: { pods: { tokenAudiences: ["x'] + ['"] } } },
      /tokenAudiences/,
    ],
    [
      "a REST port that everybody reaches and tells his address",
      { networkPolicy: { enabled: false } },
      /settings.api.trustedProxies/,
    ],
    ["an unknown value", { operater: {} }, /operater/],
    ["an unknown value of the gate", { gate: { host: "x" } }, /host/],
    ["the gate's account as its own", { settings: { ...settings, serviceAccount: "gate" } }, /the gate's own/],
  ])("refuses %s", async (_, values, words) => {
    await expect(rendered(values)).rejects.toThrow(words);
  });

  test("leaves out the operator on request, and brings all else", async () => {
    const kinds = (objects: readonly Manifest[]) => new Set(objects.map(({ kind }) => kind));
    const without = kinds(await rendered({ operator: { enabled: false } }));
    expect(kinds(await rendered())).toEqual(
      new Set([...without, "Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget", "Job", "Pod"]),
    );
  });
});

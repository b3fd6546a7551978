import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { Settings } from "../../../../config/settings.schema.ts";
import { settingsFrom } from "../../../../config/settings.ts";
import { CHART_URL_PATTERN } from "../../../../crds/repository/repository.schema.ts";
import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram, lintChart, renderChart } from "../../../../deploy/local/kubernetes/helm.ts";
import { nodeFlags } from "../../../../deploy/local/processes/node-flags.ts";

const root = new URL("../../../..", import.meta.url).pathname;
const settings = {
  baseDomain: "env.example.test",
  defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
};
const release = { chart: "platform", release: "platform", namespace: "ephemeral-system" } as const;
const image = "registry.example.test/platform:1";

function rendered(values: object = {}, namespace = "ephemeral-system"): Promise<Manifest[]> {
  return renderChart({ ...release, namespace, values: { settings, operator: { image }, ...values } });
}

function settingsOf(objects: readonly Manifest[]): unknown {
  const [found] = objects.filter(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "settings");
  const data = found?.data as Record<string, string> | undefined;
  return parse(data?.["settings.yaml"] ?? "");
}

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("satisfies helm's linter", async () => {
    expect(await lintChart({ ...release, values: { settings, operator: { image } } })).not.toMatch(
      /\[(WARNING|ERROR)\]/,
    );
  });

  test("brings every kind that is generated, as it is, and keeps it when it is uninstalled", async () => {
    const definitions = (await rendered()).filter(({ kind }) => kind === "CustomResourceDefinition");
    const generated = readdirSync(`${root}/crds`).filter((name) => name.endsWith(".yaml"));
    expect(definitions.map(({ spec }) => spec)).toEqual(
      generated.map((name) => (parse(readFileSync(`${root}/crds/${name}`, "utf8")) as Manifest).spec),
    );
    for (const { metadata } of definitions) {
      expect(metadata).toMatchObject({ annotations: { "helm.sh/resource-policy": "keep" } });
    }
  });

  test("is judged by the version that the cluster says of itself, not by helm's own", async () => {
    const values = { settings, operator: { image } };
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

  test("starts the operator with the flags that it is measured with", async () => {
    const deployment = (await rendered()).find(({ kind }) => kind === "Deployment");
    const [container] = parse(JSON.stringify(deployment)).spec.template.spec.containers;
    expect(container.args.slice(0, -2)).toEqual(["node", ...nodeFlags, "operator/main.js"]);
  });

  test("lets the operator listen on the pod's addresses only when it runs in a pod", async () => {
    expect(settingsOf(await rendered())).toMatchObject({ api: { host: "0.0.0.0" }, probes: { host: "0.0.0.0" } });
    const outside = settingsFrom(settingsOf(await rendered({ operator: { enabled: false } })));
    expect([outside.api.host, outside.probes.host]).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  test("expects one proxy and settles before it stops, in a pod only and unless its settings say otherwise", async () => {
    expect(settingsOf(await rendered())).toMatchObject({ api: { settleSeconds: 5, trustedProxyHops: 1 } });
    const api = { settleSeconds: 0, trustedProxyHops: 2 };
    expect(settingsOf(await rendered({ settings: { ...settings, api } }))).toMatchObject({ api });
    const outside = settingsFrom(settingsOf(await rendered({ operator: { enabled: false } })));
    expect(outside.api).toMatchObject({ settleSeconds: 0, trustedProxyHops: 0 });
  });

  test.each([
    [undefined, 30],
    [0, 25],
    [20, 45],
  ])("gives the operator time to settle (%s s), finish and let go", async (settleSeconds, expected) => {
    const api = settleSeconds === undefined ? {} : { settleSeconds };
    const operator = (await rendered({ settings: { ...settings, api } })).find(({ kind }) => kind === "Deployment");
    expect(operator).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: expected } } } });
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
    ["no image for the operator", { operator: { enabled: true } }, /operator.image is required/],
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
      "a REST port that everybody reaches and tells his address",
      { networkPolicy: { enabled: false } },
      /settings.api.trustedProxies/,
    ],
    ["an unknown value", { operater: {} }, /operater/],
  ])("refuses %s", async (_, values, words) => {
    await expect(rendered(values)).rejects.toThrow(words);
  });

  test("runs the operator restricted, probed on its own port", async () => {
    const operator = (await rendered()).find(({ kind }) => kind === "Deployment");
    expect(operator).toMatchObject({
      spec: {
        template: {
          spec: {
            serviceAccountName: "platform",
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
            containers: [
              {
                image,
                ports: [
                  { name: "api", containerPort: 8080 },
                  { name: "probes", containerPort: 9090 },
                ],
                livenessProbe: { httpGet: { path: "/livez", port: "probes" } },
                readinessProbe: { httpGet: { path: "/readyz", port: "probes" } },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ["ALL"] },
                },
              },
            ],
          },
        },
      },
    });
  });

  test("gives the operator the volumes that its values name, beside its own", async () => {
    const volume = { name: "redis", secret: { secretName: "redis-password" } };
    const mount = { name: "redis", mountPath: "/etc/redis", readOnly: true };
    const operator = { image, volumes: [volume], volumeMounts: [mount] };
    const deployment = (await rendered({ operator })).find(({ kind }) => kind === "Deployment");
    const { containers, volumes } = parse(JSON.stringify(deployment)).spec.template.spec;
    expect(volumes.map(({ name }: { name: string }) => name)).toEqual(["settings", "tmp", "redis"]);
    expect(volumes).toContainEqual(volume);
    expect(containers[0].volumeMounts).toHaveLength(3);
    expect(containers[0].volumeMounts).toContainEqual(mount);
  });

  test("runs two operators, on nodes of their own where there are any", async () => {
    const operator = (await rendered()).find(({ kind }) => kind === "Deployment");
    const spread = { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" };
    expect(operator).toMatchObject({
      spec: { replicas: 2, template: { spec: { topologySpreadConstraints: [spread] } } },
    });
  });

  test("gives no right on the embedded secret manager's entries where there is another one", async () => {
    const bound = (objects: readonly Manifest[]) =>
      objects.filter(({ kind, metadata }) => /^Role/.test(kind) && metadata.namespace === "ephemeral-secrets");
    const secretManager = { kind: "google", project: "my-project-42" };
    expect(bound(await rendered())).toHaveLength(2);
    expect(bound(await rendered({ settings: { ...settings, secretManager } }))).toEqual([]);
  });

  test("says who the operator is to a cloud", async () => {
    const annotations = { "iam.gke.io/gcp-service-account": "platform@my-project-42.iam.gserviceaccount.com" };
    const account = async (values: object) => (await rendered(values)).find(({ kind }) => kind === "ServiceAccount");
    expect(await account({ serviceAccount: { annotations } })).toMatchObject({ metadata: { annotations } });
    expect((await account({}))?.metadata).not.toHaveProperty("annotations");
  });

  test("leaves the operator to others when it is told to, and brings all else", async () => {
    const kinds = (objects: readonly Manifest[]) => new Set(objects.map(({ kind }) => kind));
    const without = kinds(await rendered({ operator: { enabled: false } }));
    expect(kinds(await rendered())).toEqual(new Set([...without, "Deployment", "Service", "NetworkPolicy"]));
  });

  test("follows the release's namespace and the settings in every right and policy", async () => {
    const elsewhere = {
      ...settings,
      secretsNamespace: "vault",
      serviceAccount: "robot",
      deployer: { namespace: "cd" },
    };
    const objects = await rendered({ settings: elsewhere }, "elsewhere");
    const namespaced = objects.filter(({ metadata }) => metadata.namespace !== undefined);
    expect([...new Set(namespaced.map(({ metadata }) => metadata.namespace))].sort()).toEqual([
      "cd",
      "elsewhere",
      "vault",
    ]);
    const bindings = objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([{ kind: "ServiceAccount", name: "robot", namespace: "elsewhere" }]);
    }
    const policies = JSON.stringify(objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy"));
    expect(new Set(policies.match(/system:serviceaccount:[a-z:-]+/g))).toEqual(
      new Set(["system:serviceaccount:elsewhere:robot", "system:serviceaccount:cd:argocd-application-controller"]),
    );
  });

  test("knows Argo CD by the ServiceAccount, and its other namespaces by the names, that its values give", async () => {
    const deployer = { serviceAccount: { name: "controller", namespace: "gitops" }, otherNamespaces: ["env-prod"] };
    const objects = await rendered({ deployer });
    const policy = objects.find(({ metadata }) => metadata.name === "deployer-namespaces.ephemeral-environments.dev");
    expect(policy).toMatchObject({
      spec: {
        matchConditions: [{ expression: "request.userInfo.username == 'system:serviceaccount:gitops:controller'" }],
        variables: [{ name: "others", expression: "['env-prod']" }],
      },
    });
  });

  test("lets charts come from the repositories that its values name, and from every one where they name none", async () => {
    const allowed = async (values: object) =>
      JSON.stringify(await rendered(values)).match(/"name":"allowed","expression":"(\['http[^"]*)"/)?.[1];
    expect(await allowed({})).toBe("['https:/*', 'http:/*']");
    const chartRepositories = ["https://git.example.test/charts/*"];
    expect(await allowed({ environments: { chartRepositories } })).toBe("['https://git.example.test/charts/*']");
  });

  test("takes the URLs of charts that a Repository may name, and no others", async () => {
    const policies = (await rendered()).filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    expect(JSON.stringify(policies)).toContain(`one.matches('${CHART_URL_PATTERN}')`);
  });

  test("lets an Ingress of an environment carry the annotations that its values name, and those of Argo CD", async () => {
    const ingressAnnotations = ["ingress.example.test/*", "cert-manager.io/cluster-issuer"];
    const policies = JSON.stringify(await rendered({ environments: { ingressAnnotations } }));
    const always = ["argocd.argoproj.io/*", "kubectl.kubernetes.io/last-applied-configuration"];
    expect(policies).toContain(`[${[...always, ...ingressAnnotations].map((key) => `'${key}'`).join(", ")}]`);
  });

  test("grants no right with a wildcard, and none on secrets, pods or events in the whole cluster", async () => {
    const roles = (await rendered()).filter(({ kind }) => /Role$/.test(kind));
    expect(JSON.stringify(roles.map(({ rules }) => rules))).not.toContain('"*"');
    const clusterWide = roles.find(
      ({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "ephemeral-platform",
    );
    expect(JSON.stringify(clusterWide?.rules)).not.toMatch(/"(secrets|pods|pods\/log|events)"/);
  });

  test("puts every policy into force, failing closed, with a sentence for every refusal", async () => {
    const objects = await rendered();
    const policies = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
    const bound = objects.filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
    expect(bound.map(({ spec }) => spec)).toEqual(
      policies.map(({ metadata }) => ({ policyName: metadata.name, validationActions: ["Deny"] })),
    );
    for (const { spec } of policies) {
      expect(spec).toMatchObject({ failurePolicy: "Fail" });
      for (const validation of (spec as { validations: object[] }).validations) {
        expect(Object.keys(validation).some((key) => key.startsWith("message"))).toBe(true);
        expect(validation).toMatchObject({ reason: "Forbidden" });
      }
    }
  });
});

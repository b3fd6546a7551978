import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { settingsFrom } from "../../../../config/settings.ts";
import { compileCacheIn } from "../../../../deploy/bundle/operator-bundle.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { rendered, settings, settingsOf } from "./rendered-platform.ts";

describe("the platform chart", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test("starts what the image starts, and keeps compiled modules where the pod may write", async () => {
    const deployment = (await rendered()).find(({ kind }) => kind === "Deployment");
    const [container] = parse(JSON.stringify(deployment)).spec.template.spec.containers;
    expect(container).not.toHaveProperty("command");
    expect(container.args).toEqual(["--settings", "/etc/ephemeral-environments/settings.yaml"]);
    const env = Object.entries(compileCacheIn("/tmp")).map(([name, value]) => ({ name, value }));
    expect(container.env).toEqual(env);
    expect(container.volumeMounts).toContainEqual({ name: "tmp", mountPath: "/tmp" });
  });

  test("lets the operator listen on the pod's addresses only when it runs in a pod", async () => {
    expect(settingsOf(await rendered())).toMatchObject({ api: { host: "0.0.0.0" }, probes: { host: "0.0.0.0" } });
    const outside = settingsFrom(settingsOf(await rendered({ operator: { enabled: false } })));
    expect([outside.api.host, outside.probes.host]).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  test.each([
    [undefined, 40],
    [0, 25],
    [20, 85],
  ])("gives the operator time to settle (%s s), finish and let go", async (settleSeconds, expected) => {
    const api = settleSeconds === undefined ? {} : { settleSeconds };
    const operator = (await rendered({ settings: { ...settings, api } })).find(({ kind }) => kind === "Deployment");
    expect(operator).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: expected } } } });
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
    const operator = { volumes: [volume], volumeMounts: [mount] };
    const deployment = (await rendered({ operator })).find(({ kind }) => kind === "Deployment");
    const { containers, volumes } = parse(JSON.stringify(deployment)).spec.template.spec;
    expect(volumes.map(({ name }: { name: string }) => name)).toEqual(["settings", "tmp", "redis"]);
    expect(volumes).toContainEqual(volume);
    expect(containers[0].volumeMounts).toHaveLength(3);
    expect(containers[0].volumeMounts).toContainEqual(mount);
  });

  test("says who the operator is to a cloud", async () => {
    const annotations = { "iam.gke.io/gcp-service-account": "platform@my-project-42.iam.gserviceaccount.com" };
    const account = async (values: object) => (await rendered(values)).find(({ kind }) => kind === "ServiceAccount");
    expect(await account({ serviceAccount: { annotations } })).toMatchObject({ metadata: { annotations } });
    expect((await account({}))?.metadata).not.toHaveProperty("annotations");
  });
});

import { beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram, renderChart } from "../../../deploy/local/kubernetes/helm.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import type { ApiCalls } from "../../support/plane/api-calls.ts";
import { given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const deployer = unique("gitops-");
const elsewhere = unique("gitops-accounts-");
const name = "controller";

describe("the platform chart, where helm asks the cluster for Argo CD's account", () => {
  let admin: ApiCalls;

  beforeAll(async () => {
    await helmProgram();
    admin = administrator(plane);
    for (const namespace of [deployer, elsewhere]) {
      await given(admin, paths.namespaces, { metadata: { name: namespace } });
    }
    await given(admin, `${paths.namespaces}/${elsewhere}/serviceaccounts`, { metadata: { name } });
  }, 30 * 60_000);

  /** Renders as `helm install` does; the kinds are foreign. */
  const rendered = (serviceAccount?: object, namespace = deployer) =>
    renderChart({
      chart: "platform",
      release: "platform",
      namespace: "ephemeral-system",
      kubeconfig: plane.kubeconfigPath,
      values: {
        settings: { ...testSettings, deployer: { namespace } },
        operator: { enabled: false },
        ...(serviceAccount && { deployer: { serviceAccount } }),
      },
    });

  test.each([
    [
      "of the usual name",
      undefined,
      `no ServiceAccount 'argocd-application-controller' in the namespace '${deployer}'`,
    ],
    ["of the name that is given", { name }, `no ServiceAccount '${name}' in the namespace '${deployer}'`],
  ])("is refused where there is none %s, and says what to set", async (_, account, words) => {
    const refusal = rendered(account);
    await expect(refusal).rejects.toThrow(words);
    await expect(refusal).rejects.toThrow("set deployer.serviceAccount to");
  });

  test("is taken where there is one", async () => {
    expect(await rendered({ name, namespace: elsewhere })).not.toEqual([]);
  });
});

import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { create, Environments, untilReady } from "../../support/environments.ts";
import { deploy, installed, refusedUpgrade, values } from "../../support/installation/installation.ts";
import { namespace, replicas } from "../../support/installation/replicas.ts";
import { kubectl, list, type Resource } from "../../support/kubectl.ts";
import { TEST_DEADLINE_MS } from "../../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const KINDS = [
  "deployments,services,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,roles,rolebindings,jobs,namespaces",
  "clusterroles,clusterrolebindings,flowschemas,prioritylevelconfigurations,crd",
  "validatingadmissionpolicies,validatingadmissionpolicybindings",
].join(",");

type Managed = Resource<{
  readonly metadata: {
    readonly managedFields: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly subresource?: string;
    }[];
  };
}>;

const environments = new Environments();

beforeAll(() => installed(values()));
afterAll(() => environments.removeAll());

/** Field managers of all objects of the chart, each as `kind: manager operation subresource`, without repetitions. */
async function managers(): Promise<readonly string[]> {
  const objects = (await list(
    KINDS,
    "--all-namespaces",
    "--selector=app.kubernetes.io/instance=platform",
  )) as readonly Managed[];
  expect(objects.length).toBeGreaterThan(50);
  const lines = objects.flatMap(({ kind, metadata }) =>
    metadata.managedFields.map((one) =>
      [`${kind}:`, one.manager, one.operation, one.subresource ?? ""].join(" ").trim(),
    ),
  );
  return [...new Set(lines)].sort();
}

const scale = (count: number) =>
  kubectl("scale", "deployment/platform", `--namespace=${namespace}`, `--replicas=${count}`);

test("upgrades beside a kubectl scale: helm names the conflict, takes the field back on request, and no field of the chart is ours", async () => {
  const name = environments.name("managed");
  await create(name);
  await untilReady(name);
  const first = values({ settings: { ttl: { maximumHours: 102 } } });
  const second = values({ settings: { ttl: { maximumHours: 103 } } });
  await deploy("upgrade", first);

  await scale(3);
  await replicas(3);
  const words = await refusedUpgrade(second);
  expect(words).toMatch(/conflict.*kubectl/s);
  expect(words).toContain(".spec.replicas");
  await deploy("upgrade", second, "--force-conflicts");
  await replicas(2);
  // Setting it back by hand is no conflict either.
  await scale(3);
  await scale(2);
  await deploy("upgrade", first);
  await replicas(2);
  await untilReady(name);

  const found = await managers();
  console.log(`field managers of the chart's objects: ${found.join(", ")}`);
  expect(found.filter((line) => line.includes("ephemeral-environments"))).toEqual([]);
  // The status is Kubernetes' own.
  const strangers = found.filter((line) => !/ (helm Apply|status)$/.test(line));
  // `kubectl scale` was the last writer of a field that helm applies, too.
  expect(strangers).toEqual(["Deployment: kubectl Update scale"]);
});

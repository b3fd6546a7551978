import { namespaceName } from "../../../../crds/names.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import { argocdDeployer } from "../../../../operator/adapters/argocd/deployer.ts";
import { applicationKind, appProjectKind } from "../../../../operator/adapters/argocd/kinds.ts";
import { namespaceKind } from "../../../../operator/kit/client/kinds.ts";
import type { Owner } from "../../../../operator/ports/cluster.ts";
import type { Pods } from "../../../../operator/ports/pods.ts";
import { fixtureSettings } from "../../fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../fixtures/silent-log.ts";
import { partialDouble } from "../partial-double.ts";
import type { TestClock } from "../test-clock.ts";
import { memoryCluster } from "./cluster.ts";
import { memoryEventRecorder } from "./event-recorder.ts";
import { memoryNamespaceContents } from "./namespace-contents.ts";
import { memoryRecords } from "./records.ts";
import { memorySecretManager } from "./secret-manager.ts";

/** The places of an environment's objects. */
export const namespaceOf = ({ name }: Pick<Owner, "name">) => ({ name: namespaceName(name) });
export const applicationOf = ({ name }: Pick<Owner, "name">) => ({
  name: namespaceName(name),
  namespace: fixtureSettings.deployer.namespace,
});

/** No chart has made any. */
const noJobs = { list: async () => ({ items: [], resourceVersion: "1" }), delete: async () => "gone" as const };

/** A world in which things of environments are, and from which they can be removed. */
export function memoryRemoval(clock: TestClock) {
  const cluster = memoryCluster(() => clock.now());
  const secretManager = memorySecretManager(() => clock.now());
  const records = memoryRecords();
  const events = memoryEventRecorder(clock);
  const deployer = argocdDeployer({ cluster, client: noJobs, settings: fixtureSettings.deployer, clock });
  const bare = { apiVersion: "v1" };

  const namespaceContents = memoryNamespaceContents(cluster);

  return {
    cluster,
    namespaceContents,
    secretManager,
    records,
    events,
    deployer,
    clock,
    settings: fixtureSettings,
    log: silentLog,
    pods: partialDouble<Pods>({ diagnose: async () => ({ problems: [], quiet: [], isServing: true }) }),
    async furnish(owner: Owner): Promise<void> {
      const [namespace, application] = [namespaceOf(owner), applicationOf(owner)];
      await cluster.ensure(owner, namespaceKind, { ...bare, kind: "Namespace", metadata: namespace });
      await secretManager.ensure(owner, [{ name: "SECRET_KEY", version: 1, generate: () => new Sensitive("x") }]);
      await cluster.ensure(owner, appProjectKind, { ...bare, kind: "AppProject", metadata: application });
      await cluster.ensure(owner, applicationKind, { ...bare, kind: "Application", metadata: application });
    },
    async left(owner: Owner): Promise<string[]> {
      const parts = [
        ["application", await cluster.read(owner, applicationKind, applicationOf(owner))],
        ["project", await cluster.read(owner, appProjectKind, applicationOf(owner))],
        ["secrets", (await secretManager.holdsAny(owner, [])) || undefined],
        ["namespace", await cluster.read(owner, namespaceKind, namespaceOf(owner))],
      ] as const;
      return parts.filter(([, found]) => found !== undefined).map(([step]) => step);
    },
  };
}

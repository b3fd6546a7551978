import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let argocd: KubeClient;
let running: RunningOperator;
let number = 0;
let name: string;

beforeAll(async () => {
  world = await createWorld();
  const kubeConfig = kubeConfigOf(world.plane, world.plane.adminToken);
  argocd = createKubeClient({ kubeConfig, userAgent: "argocd-controller" });
  running = await world.startOperator();
}, 180_000);
afterAll(async () => {
  await argocd.close();
  await world.stop();
}, 60_000);
beforeEach(() => {
  name = `kept-by-git-${++number}`;
});

function sync(): Promise<EphemeralEnvironment> {
  const tracking = `apps:ephemeral-environments.dev/EphemeralEnvironment:/${name}`;
  const metadata = { name, annotations: { "argocd.argoproj.io/tracking-id": tracking } };
  return argocd.create(environmentType, { metadata, spec: { ...backendOnly, ttlHours: 1 } });
}

describe("a change through the REST interface that Git would take back", () => {
  const application = (spec: object) => ({
    metadata: { name: "apps", namespace: "argocd" },
    spec: { project: "default", destination: {}, ...spec },
  });

  test("is refused with a sentence; a field that the manifest leaves out may be changed", async () => {
    const { operator } = running;
    await sync();
    const made = await world.expectPhase(name, "ready");
    await expect(operator.ports.environments.extend(made, { ttlHours: 5 })).rejects.toThrow(
      "spec.ttlHours comes from Git, and Argo CD would take the change back: change it in the manifest, or take it out there",
    );
    const asleep = await operator.ports.environments.update(made, { suspended: true });
    expect(asleep.spec).toMatchObject({ suspended: true, ttlHours: 1 });
  }, 120_000);

  test("lasts where its Application leaves our field manager alone", async () => {
    const { operator } = running;
    const ignoreDifferences = [
      {
        group: "ephemeral-environments.dev",
        kind: "EphemeralEnvironment",
        managedFieldsManagers: ["ephemeral-environments"],
      },
    ];
    const ref = { name: "apps", namespace: "argocd" };
    await world.admin.create(applicationKind, application({ ignoreDifferences }));
    await sync();
    const made = await world.expectPhase(name, "ready");
    const extend = () => operator.ports.environments.extend(made, { ttlHours: 5 });
    await expect(extend()).rejects.toThrow(/comes from Git/);
    const syncPolicy = { syncOptions: ["RespectIgnoreDifferences=true"] };
    await world.admin.patch(applicationKind, ref, { spec: { syncPolicy } }, { as: "merge" });
    expect((await extend()).spec.ttlHours).toBe(5);
    await world.admin.delete(applicationKind, ref);
  }, 120_000);
});

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { podKind } from "../../../operator/kit/client/kinds.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const last = ({ status }: EphemeralEnvironment) => status?.usage?.at(-1);

test("what pods request is noted as it changes, and kept in the record", async () => {
  await world.startOperator();
  const name = unique("used-");
  const namespace = namespaceName(name);
  await world.create(name, { ...backendOnly, ttlHours: 24 });
  const ready = await world.expectPhase(name, "ready");
  expect(ready.status?.usage).toMatchObject([{ cpuMillicores: 0, memoryMebibytes: 0, storageMebibytes: 0 }]);

  await world.admin.create(podKind, {
    metadata: { name: "backend", namespace },
    spec: podSpec({ cpu: "250m", memory: "1Gi" }),
  });
  const running = await world.expectState(name, "its pod counted", (one) => last(one)?.cpuMillicores === 250);
  expect(last(running)).toMatchObject({ memoryMebibytes: 1_024, storageMebibytes: 0 });

  await world.admin.delete(podKind, { name: "backend", namespace });
  const idle = await world.expectState(name, "no pod counted", (one) => last(one)?.cpuMillicores === 0);
  expect(idle.status?.usage).toHaveLength(3);

  await world.delete(idle);
  await world.expectGone(idle);
  const ref = { name: idle.metadata.uid, namespace: "ephemeral-system" };
  const record = await world.admin.find(recordType, ref);
  expect(record?.spec.usage).toEqual(idle.status?.usage);
});

/** A pod spec for the namespace's Pod Security. */
const podSpec = (requests: Readonly<Record<string, string>>) => ({
  automountServiceAccountToken: false,
  securityContext: { runAsNonRoot: true, runAsUser: 1_000, seccompProfile: { type: "RuntimeDefault" } },
  containers: [
    {
      name: "main",
      image: "registry.test/none:1",
      resources: { requests, limits: { memory: "1Gi" } },
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
  ],
});

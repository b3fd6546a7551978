import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { podKind } from "../../../operator/kit/client/kinds.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

const [first, second] = ["1".repeat(40), "2".repeat(40)] as const;
const place = { namespace: "env-moving" };

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.register("moving-api", { image: { repository: "docker.io/local/moving", tagTemplate: "{branch}" } });
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const wanting = (commit: string) => ({ backend: { repository: "moving-api", branch: "main", commit } });

async function rollOut(commit: string): Promise<void> {
  const annotations = { "ephemeral-environments.dev/commit": commit };
  await world.admin.create(podKind, {
    metadata: { ...place, name: "backend", labels: { "app.kubernetes.io/component": "backend" }, annotations },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "backend",
          image: "docker.io/local/moving:main",
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  });
}

test("a tag that stays the same rolls out with each commit, and the status has the commit of the pods", async () => {
  const { stop } = await world.startOperator();
  await world.create("moving", wanting(first));
  const unsaid = await world.expectPhase("moving", "ready");
  expect(unsaid.status?.components?.backend).toMatchObject({ image: "docker.io/local/moving:main" });
  expect(unsaid.status?.components?.backend).not.toHaveProperty("commit");
  expect(await applicationValues(world.admin, "moving")).toMatchObject({
    backend: { image: "docker.io/local/moving:main", commit: first, pullPolicy: "Always" },
  });

  await rollOut(first);
  expect((await world.reconcile("moving")).status?.components?.backend?.commit).toBe(first);

  await world.admin.patch(environmentType, { name: "moving" }, { spec: wanting(second) }, { as: "merge" });
  const isGiven = ({ status }: EphemeralEnvironment) => status?.sources?.backend?.applied?.commit === second;
  await world.expectState("moving", "given the second commit", isGiven);
  expect(await applicationValues(world.admin, "moving")).toMatchObject({
    backend: { image: "docker.io/local/moving:main", commit: second },
  });
  await world.admin.delete(podKind, { ...place, name: "backend" });
  await rollOut(second);
  const moved = await world.reconcile("moving");
  expect(moved.status?.components?.backend?.commit).toBe(second);
  await stop();
}, 90_000);

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { API_VERSION } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { argoCd } from "../../support/plane/chart/argocd-objects.ts";
import { paths } from "../../support/plane/chart/environment-objects.ts";
import { changedDefinition, schemaAt } from "../../support/plane/chart/older-definition.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

/** A chart and a program of two releases meet during an upgrade, or longer when one is applied alone. */
const plane = await controlPlane();
const admin = administrator(plane);

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

test("an operator whose definitions are older stores no half of a status, and goes on once they are upgraded", async () => {
  const running = await world.startOperator();
  await world.create("before");
  const before = await world.expectPhase("before", "ready");
  const restore = await changedDefinition(plane, environmentType, (schema) => {
    delete schemaAt(schema, "status").properties.components;
  });
  expect((await world.find("before"))?.status?.components).toBeUndefined();
  await world.create("meanwhile");
  const isMade = async () => (await admin.get(`${argoCd.applications}/env-meanwhile`)).status === 200;
  await until(isMade, { what: "the application, which is made before the status can be complete" });
  expect((await world.find("meanwhile"))?.status?.phase).not.toBe("ready");
  await restore();
  const isWhole = ({ status }: EphemeralEnvironment) => status?.phase === "ready" && status.components !== undefined;
  const { metadata } = await world.expectState("meanwhile", "being ready, with all of its status", isWhole);
  const { environments } = running.operator.ports;
  const isShown = () => environments.list().some((one) => one.metadata.uid === metadata.uid && isWhole(one));
  await until(isShown, { what: "the operator showing all of its status" });
  // A ready environment is unchanged: its objects are the same.
  const kept = await world.expectPhase("before", "ready");
  expect(kept.metadata.uid).toBe(before.metadata.uid);
  expect(kept.status?.readyAt).toBe(before.status?.readyAt);
  await running.stop();
}, 120_000);

test("an operator whose definitions are newer leaves the fields that it does not know", async () => {
  const restore = await changedDefinition(plane, environmentType, (schema) => {
    schemaAt(schema, "spec").properties.later = { type: "string" } as never;
    schemaAt(schema, "status").properties.later = { type: "string" } as never;
  });
  const object = { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata: { name: "newer" } };
  const made = { ...object, spec: { ...backendOnly, later: "asked" } };
  expect(await admin.create(paths.environments, made)).toMatchObject({ status: 201 });
  const platform = callsAs(plane, { token: plane.platform.token });
  const observed = await platform.patch(`${paths.environments}/newer/status`, { status: { later: "observed" } });
  expect(observed.object).toMatchObject({ status: { later: "observed" } });
  const running = await world.startOperator();
  await world.expectPhase("newer", "ready");
  await world.admin.patch(environmentType, { name: "newer" }, { spec: { suspended: true } }, { as: "merge" });
  const isSuspended = ({ status }: EphemeralEnvironment) =>
    findCondition(status?.conditions, "Suspended") !== undefined;
  await world.expectState("newer", "being suspended", isSuspended);
  const { spec, status } = (await admin.get(`${paths.environments}/newer`)).object as {
    spec: { later?: string };
    status: { later?: string };
  };
  expect([spec.later, status.later]).toEqual(["asked", "observed"]);
  await running.stop();
  await restore();
}, 120_000);

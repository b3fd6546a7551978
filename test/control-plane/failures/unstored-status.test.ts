import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { concernedAmong, normalised } from "../../support/faults/request-interceptors.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);

/** The API server's errors for the first statuses of an environment, by its name. */
const refusals = new Map(
  Object.entries({
    busy: () => new KubeError({ status: 429, reason: "TooManyRequests" }),
    broken: () => new KubeError({ status: 500, reason: "InternalError" }),
  }),
);
const TIMES = 3;

test("while a status can't be stored nothing that was made is made again", async () => {
  const names = [...refusals.keys()];
  const concerned = concernedAmong(names);
  const left = new Map(names.map((name) => [name, TIMES]));
  const again: string[] = [];
  const interceptor: RequestInterceptor = async (request, next) => {
    const { name = "", subresource } = request;
    const more = subresource === "status" ? (left.get(name) ?? 0) : 0;
    if (more > 0) {
      left.set(name, more - 1);
      throw refusals.get(name)?.();
    }
    const response = await next();
    const about = concerned(request);
    const isThere = request.verb === "create" && response.status === 409;
    if (about !== undefined && isThere) again.push(`${about}: ${normalised(request, about)}`);
    return response;
  };
  const operator = await world.startOperator({ onRequest: interceptor });
  await Promise.all(names.map((name) => world.create(name)));
  await Promise.all(names.map((name) => world.expectPhase(name, "ready")));
  await operator.stop();
  expect([...left.values()]).toEqual([0, 0]);
  expect(again).toEqual([]);
}, 60_000);

test("a rotation that is asked for while the first status waits gives a new value to what was made by then", async () => {
  const name = "asked-early";
  let isRequested = false;
  const interceptor: RequestInterceptor = async (request, next) => {
    const response = await next();
    const { verb, type } = request;
    if (isRequested || verb !== "create" || type?.kind !== "Application") return response;
    isRequested = true;
    const spec = { secrets: { rotate: { SECRET_KEY: "leaked" } } };
    await world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
    return response;
  };
  const operator = await world.startOperator({ onRequest: interceptor });
  await world.create(name);
  const isRenewed = async () => {
    const { phase, secrets } = (await world.find(name))?.status ?? {};
    return phase === "ready" && secrets?.some((secret) => secret.name === "SECRET_KEY" && secret.version === 2);
  };
  await until(isRenewed, { what: "an environment with the new value" });
  await operator.stop();
}, 60_000);

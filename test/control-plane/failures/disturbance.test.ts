import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type RequestSeam } from "../../../operator/kit/client/request.ts";
import { completeInventory } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, podSecretRef, type World } from "../../support/fixtures/environment-world.ts";
import { until } from "../../support/fixtures/until.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

async function expectComplete(name: string): Promise<void> {
  const ready = await world.expectPhase(name, "ready");
  expect([...(await world.inventory(ready)).keys()].sort()).toEqual(completeInventory(ready));
  const store = [...(await world.inventory(ready))].find(([title]) => title.startsWith("store/"))?.[1];
  const pods = await world.admin.find(secretKind, podSecretRef(name));
  const stored = Object.entries((store?.data ?? {}) as Record<string, string>);
  expect(Object.fromEntries(stored.map(([key, value]) => [key.replace(/\.1$/, ""), value]))).toEqual(pods?.data);
}

const TROUBLED_WRITES = 60;

/** For a while, a third of the writes is answered as by an API server that is overwhelmed, failing, or changed meanwhile. */
function trouble(): RequestSeam {
  let count = 0;
  const refusals = [
    { status: 429, headers: { "retry-after": "1" }, body: { kind: "Status", reason: "TooManyRequests" } },
    { status: 500, headers: {}, body: { kind: "Status", reason: "InternalError" } },
    { status: 409, headers: {}, body: { kind: "Status", reason: "Conflict" } },
  ];
  return async (request, next) => {
    if (!isWrite(request.verb) || count >= TROUBLED_WRITES) return next();
    count += 1;
    const refusal = count % 3 === 0 ? refusals[(count / 3) % refusals.length] : undefined;
    if (refusal !== undefined) return refusal;
    const answer = await next();
    // Done, and never learnt.
    if (count % 7 === 0) throw new Error("the connection was reset");
    return answer;
  };
}

describe("disturbed creations converge", () => {
  test("when the API server is killed and comes back", async () => {
    const { stop } = await world.startOperator();
    const all = names("restarted", 4);
    await Promise.all(all.map((name) => world.create(name)));
    await until(async () => (await world.find("restarted-0"))?.metadata.finalizers?.length, {
      what: "work in progress",
    });
    await world.plane.restart("kube-apiserver");
    await Promise.all(all.map(expectComplete));
    await stop();
  }, 120_000);

  test("when the store behind the API server is killed and comes back", async () => {
    const { stop } = await world.startOperator();
    const all = names("forgotten", 4);
    await Promise.all(all.map((name) => world.create(name)));
    await world.plane.restart("etcd");
    await Promise.all(all.map(expectComplete));
    await stop();
  }, 120_000);

  test("when two operators work on the same environments: one of everything", async () => {
    const operators = await Promise.all([world.startOperator(), world.startOperator()]);
    const all = names("shared", 8);
    const made = await Promise.all(all.map((name) => world.create(name)));
    await Promise.all(all.map(expectComplete));
    await Promise.all(made.map(world.delete));
    await Promise.all(made.map(world.expectGone));
    await Promise.all(operators.map(({ stop }) => stop()));
  }, 180_000);

  test("after a third of the writes was refused, and some succeeded without an answer", async () => {
    const { stop } = await world.startOperator({ onRequest: trouble() });
    const all = names("troubled", 4);
    await Promise.all(all.map((name) => world.create(name)));
    await Promise.all(all.map(expectComplete));
    await stop();
  }, 120_000);
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { namespaceName } from "../../../crds/names.ts";
import { networkPolicyKind } from "../../../operator/kit/client/kinds.ts";
import type { RequestSeam } from "../../../operator/kit/client/request.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { completeInventory } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, type RunningOperator, type World } from "../../support/fixtures/environment-world.ts";
import { fastClock } from "../../support/fixtures/fast-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { startTcpProxy, type TcpProxy } from "../../support/plane/tcp-proxy.ts";

/** The longest that a half-open watch may go unnoticed. */
const WATCHDOG_MS = 60_000;
/** So many times as fast runs the operator that has to notice it. */
const TIMES = 10;
/** The machine itself may stand still for so long. */
const STANDSTILL_MS = 5_000;

let world: World;
let network: TcpProxy;
beforeAll(async () => {
  world = await createWorld();
  network = await startTcpProxy(world.identity.kubeConfig);
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(async () => {
  await network.stop();
  await world.stop();
}, 60_000);

/** An operator behind the network, and an environment that it has made ready. */
async function given(name: string, options: Partial<OperatorOptions> = {}): Promise<RunningOperator> {
  const operator = await world.startOperator({ kubeConfig: network.kubeConfig, ...options });
  await world.create(name);
  await world.expectPhase(name, "ready");
  return operator;
}

const defaultDeny = (name: string) => ({ name: "default-deny", namespace: namespaceName(name) });

/** Deletes a child of one environment, and makes another environment: both must be seen to be acted on. */
async function disturb(name: string): Promise<void> {
  await world.admin.delete(networkPolicyKind, defaultDeny(name));
  await world.create(`${name}-too`);
}

async function expectRecovered(name: string, deadlineMs: number): Promise<void> {
  const isRestored = () => world.admin.find(networkPolicyKind, defaultDeny(name));
  await until(isRestored, { what: "the restored policy", deadlineMs });
  for (const one of [name, `${name}-too`]) {
    const ready = await world.expectPhase(one, "ready");
    expect([...(await world.inventory(ready)).keys()].sort()).toEqual(completeInventory(ready));
  }
}

/** The same bytes; tells when the words were among them. */
async function* heard(bytes: AsyncIterable<Uint8Array>, words: string, tell: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    if (Buffer.from(chunk).includes(words)) tell();
    yield chunk;
  }
}

describe("what happens while the watches are broken is seen, and nothing is lost", () => {
  test("cut: they go on within seconds", async () => {
    const { stop } = await given("watch-cut");
    for (let round = 0; round < 5; round++) network.cut();
    await disturb("watch-cut");
    await expectRecovered("watch-cut", 10_000);
    await stop();
  }, 60_000);

  test("half open: every one is given up within a minute", async () => {
    const opened: string[] = [];
    const onRequest: RequestSeam = (request, next) => {
      if (request.verb === "watch") opened.push(request.path);
      return next();
    };
    const { stop } = await given("watch-stalled", { clock: fastClock(TIMES), onRequest });
    const all = new Set(opened.splice(0));
    network.stall();
    await disturb("watch-stalled");
    await until(() => all.isSubsetOf(new Set(opened)), {
      what: "new watches",
      deadlineMs: WATCHDOG_MS / TIMES + STANDSTILL_MS,
    });
    expect(all.size).toBeGreaterThan(5);
    await expectRecovered("watch-stalled", 10_000);
    await stop();
  }, 60_000);

  test("410 Gone: they list again, and what was deleted meanwhile is seen", async () => {
    let expired = 0;
    const onExpiry = () => {
      expired += 1;
    };
    const onRequest: RequestSeam = async (request, next) => {
      const answer = await next();
      if (request.verb !== "watch") return answer;
      if (answer.status === 410) onExpiry();
      return answer.stream === undefined ? answer : { ...answer, stream: heard(answer.stream, '"code":410', onExpiry) };
    };
    const { stop, operator } = await given("watch-gone", { onRequest });
    const leaving = await world.create("watch-gone-leaving");
    await world.expectPhase("watch-gone-leaving", "ready");
    // The first restart ends the watches that run, the second makes the server forget what happened since.
    network.close();
    await world.plane.restart("kube-apiserver");
    await disturb("watch-gone");
    await world.admin.delete(networkPolicyKind, defaultDeny("watch-gone-leaving"));
    await world.delete(leaving);
    await world.plane.restart("kube-apiserver");
    network.reopen();
    await expectRecovered("watch-gone", 40_000);
    await world.expectGone(leaving);
    await until(
      () => operator.ports.environments.list().every(({ metadata }) => metadata.uid !== leaving.metadata.uid),
      {
        what: "the end of the deleted environment in the cache",
      },
    );
    expect(expired).toBeGreaterThan(0);
    await stop();
  }, 180_000);
});

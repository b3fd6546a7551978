import { afterAll, afterEach, expect, jest, test } from "@jest/globals";
import { curl } from "../support/curl.ts";
import { Environments } from "../support/environments.ts";
import { waitFor } from "../support/kubectl.ts";
import {
  killGate,
  killOperator,
  pauseSupervisor,
  resumeSupervisor,
  untilGateRuns,
  untilOperatorServes,
} from "../support/operator.ts";
import { TEST_DEADLINE_MS } from "../support/site.ts";
import { type Backend, createBackend, fallAsleep } from "../support/sleep.ts";
import { waitUntil } from "../support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterEach(resumeSupervisor);
afterAll(() => environments.removeAll());

/** Two environments, of which the second one sleeps. */
async function awakeAndAsleep(without: "gate" | "operator") {
  const names = [environments.name(`${without}-awake`), environments.name(`${without}-asleep`)] as const;
  const [awake, asleep] = await Promise.all([createBackend(names[0]), createBackend(names[1])]);
  await fallAsleep(asleep);
  return { awake, asleep };
}

const answers200 = async (host: string) => (await curl(host)).status === 200;

/** Requests to a sleeping environment that the gate holds, because without an operator nothing wakes. */
async function heldRequests({ name, host }: Backend) {
  const held = Array.from({ length: 20 }, () => curl(host));
  const annotation = "{.metadata.annotations.ephemeral-environments\\.dev/requested-at}";
  await waitFor([`--for=jsonpath=${annotation}`, `eenv/${name}`]);
  return held;
}

test("a gate that dies leaves no request without an answer and touches no awake environment, and the next one goes on", async () => {
  const { awake, asleep } = await awakeAndAsleep("gate");
  await pauseSupervisor();
  const operator = await killOperator();
  const held = await heldRequests(asleep);
  const gate = await killGate();
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 502 && status !== 503)).toEqual([]);
  expect(await answers200(awake.host)).toBe(true);

  await resumeSupervisor();
  await Promise.all([untilGateRuns(gate), untilOperatorServes(operator)]);
  const check = () => answers200(asleep.host);
  await waitUntil({ what: "the environment that was to wake", check, deadlineMs: 60_000 });
});

test("without an operator requests are held, what is awake answers, and with another one all are answered", async () => {
  const { awake, asleep } = await awakeAndAsleep("operator");
  await pauseSupervisor();
  const operator = await killOperator();
  const held = await heldRequests(asleep);
  expect(await answers200(awake.host)).toBe(true);
  await resumeSupervisor();
  await untilOperatorServes(operator);
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

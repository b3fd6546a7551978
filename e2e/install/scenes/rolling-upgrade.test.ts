import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { childrenOf, create, Environments, untilReady } from "../../support/environments.ts";
import { deploy, installed, values } from "../../support/installation/installation.ts";
import { followLease, gaps } from "../../support/installation/lease.ts";
import { askSteadily, type Requested } from "../../support/installation/load.ts";
import { replicas } from "../../support/installation/replicas.ts";
import { TEST_DEADLINE_MS } from "../../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const PER_SECOND = 50;
/** The distance between changes among the requests: two a second. */
const WRITE_EVERY = 25;
/** Raises the limit of one caller, which is far below the load of all. */
const api = { limits: { authenticatedPerMinute: 100_000 } };

const environments = new Environments();
const ids: string[] = [];

beforeAll(async () => {
  await installed(values({ api }));
  for (const purpose of ["loaded", "busy"]) {
    const name = environments.name(purpose);
    ids.push(await create(name));
    await untilReady(name);
  }
});
afterAll(() => environments.removeAll());

/** Reads one environment, all of them, or public data; at times an extension. */
function requested(index: number): Requested {
  const one = `/environments/${ids[index % ids.length]}`;
  if (index % WRITE_EVERY === 0) return { method: "PUT", path: one, body: { ttl_hours: 2 + (index % 2) } };
  return { method: "GET", path: [one, "/environments", "/status"][index % 3] as string };
}

test("a rolling upgrade under 50 requests a second fails none, hands the lease over within its term, and touches nothing of environments", async () => {
  const before = await replicas();
  const children = await Promise.all(ids.map(childrenOf));
  const ended = followLease();
  const stopped = askSteadily(PER_SECOND, requested);

  await deploy("upgrade", values({ api, settings: { ttl: { maximumHours: 101 } } }));
  const after = await replicas();
  const answers = await stopped();
  const terms = await ended();

  const uids = before.map(({ metadata }) => metadata.uid);
  expect(after.filter(({ metadata }) => uids.includes(metadata.uid))).toEqual([]);
  const secondsWithout = gaps(terms).map((gap) => gap.toFixed(1));
  console.log(
    `rolling upgrade: ${answers.succeeded} answers, the slowest after ${answers.slowestMs.toFixed(0)} ms; ` +
      `${terms.length} leaders, without one for ${secondsWithout.join(" s, ")} s`,
  );
  expect(answers.failures).toEqual([]);
  expect(answers.succeeded).toBeGreaterThan(PER_SECOND * 5);
  expect(terms.length).toBeGreaterThan(1);
  gaps(terms).forEach((gap, index) => {
    expect(gap).toBeLessThan(terms[index]?.durationSeconds ?? 0);
  });
  expect(await Promise.all(ids.map(childrenOf))).toEqual(children);
});

import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { ask } from "../../support/api.ts";
import { create, Environments, find, madeFor, untilReady } from "../../support/environments.ts";
import { installed, values } from "../../support/installation/installation.ts";
import { followLease, gaps, leader, leaseNow } from "../../support/installation/lease.ts";
import { killReplica, replicas } from "../../support/installation/replicas.ts";
import { kubectl } from "../../support/kubectl.ts";
import { open } from "../../support/page.ts";
import { podSecret, storedSecrets } from "../../support/secrets.ts";
import { TEST_DEADLINE_MS } from "../../support/site.ts";
import { waitUntil } from "../../support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

/** The documentation's limit: the lease's 15 s, and the delays of reads and clocks. */
const FOLLOWED_SECONDS = 20;

const environments = new Environments();

beforeAll(() => installed(values()));
afterAll(() => environments.removeAll());

/** Waits until the environment has its Secret and is not ready, so that a kill hits it in the middle. */
const untilUnderWay = (name: string) =>
  waitUntil({
    what: `the Secret of '${name}'`,
    check: async () => ((await find(name)).status as { podSecrets?: readonly string[] })?.podSecrets !== undefined,
    deadlineMs: 30_000,
  });

test("when the pod that leads is killed, the other leads within the lease's term and finishes what was begun", async () => {
  const settled = environments.name("settled");
  const settledId = await create(settled);
  await untilReady(settled);
  const names = ["begun", "asked"].map((purpose) => environments.name(purpose));
  const [begun = "", requested = ""] = names;
  const pods = (await replicas()).map(({ metadata }) => metadata.name);
  const killed = await leader(pods);
  const [survivor = ""] = pods.filter((name) => name !== killed);
  const ended = followLease();

  const begunId = await create(begun);
  await untilUnderWay(begun);
  await killReplica(killed);
  const [secret, stored] = await Promise.all([podSecret(begun), storedSecrets(begunId)]);
  expect((await find(begun)).status?.readyAt).toBeUndefined();

  // Without a leader, the creation waits for the next one. Connections to the dead pod fail until its Service is updated.
  const isAccepted = () => create(requested).then(Boolean, () => false);
  await waitUntil({ what: "a creation by the other replica", check: isAccepted, deadlineMs: 20_000 });
  const isFollowed = async () => (await leaseNow()).holderIdentity.startsWith(survivor);
  await waitUntil({ what: "the other replica leading", check: isFollowed, deadlineMs: 2 * FOLLOWED_SECONDS * 1000 });
  const terms = await ended();
  const [gap = 0] = gaps(terms);
  console.log(`leader killed: without one for ${gap.toFixed(1)} s`);
  expect(terms.map(({ holder }) => holder.startsWith(survivor))).toEqual([false, true]);
  expect(gap).toBeGreaterThan(terms[0]?.durationSeconds ?? 0);
  expect(gap).toBeLessThan(FOLLOWED_SECONDS);

  for (const name of names) {
    const { status } = await untilReady(name);
    expect((await open(status?.urls?.backend ?? "")).status).toBe(200);
  }
  expect((await find(begun)).metadata.uid).toBe(begunId);
  expect(await podSecret(begun)).toEqual(secret);
  expect(await storedSecrets(begunId)).toEqual(stored);
  expect((await madeFor(begunId)).map(kindOf)).toEqual((await madeFor(settledId)).map(kindOf));
  expect((await ask("GET", `/environments/${settledId}`)).body).toMatchObject({ status: "ready" });
  await kubectl("rollout", "status", "deployment/platform", "--namespace=ephemeral-system", "--timeout=60s");
});

const kindOf = (line: string) => line.split(" ")[0];

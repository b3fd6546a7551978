import { afterAll, afterEach, expect, jest, test } from "@jest/globals";
import { Environments, madeFor, untilGone, untilReady } from "../support/environments.ts";
import { HookLog, PullRequest } from "../support/gitea/pull-requests.ts";
import { waitFor } from "../support/kubectl.ts";
import { killOperator, pauseSupervisor, resumeSupervisor, untilOperatorServes } from "../support/operator.ts";
import { TEST_DEADLINE_MS } from "../support/site.ts";
import { waitUntil } from "../support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
let pull: PullRequest;
afterEach(resumeSupervisor);
afterAll(() => pull?.close());
afterAll(() => pull?.removeBranch());
afterAll(() => environments.removeAll());

test("a pull request that is closed while the platform is down loses its environment when that is delivered again", async () => {
  ({ pull } = await PullRequest.open());
  const name = pull.environment;
  environments.adopt(name);
  await waitFor(["--for=create", `eenv/${name}`], 30);
  const { uid } = (await untilReady(name)).metadata;
  expect(await madeFor(uid)).not.toEqual([]);
  const log = await HookLog.open();
  const before = await log.failed();

  await pauseSupervisor();
  const killed = await killOperator();
  await pull.close();
  let missed: readonly string[] = [];
  const check = async () => {
    missed = (await log.failed()).filter((id) => !before.includes(id));
    return missed.length > 0;
  };
  await waitUntil({ what: "a delivery that nothing answered", check, deadlineMs: 30_000, pollMs: 500 });
  await resumeSupervisor();
  await untilOperatorServes(killed);

  // Gitea never tries again by itself.
  for (const id of missed) await log.replay(id);
  await untilGone(name);
  expect(await madeFor(uid)).toEqual([]);
});

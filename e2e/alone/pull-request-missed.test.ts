import { afterAll, afterEach, expect, jest, test } from "@jest/globals";
import { Environments, madeFor, untilGone, untilReady } from "../support/environments.ts";
import { PullRequest } from "../support/gitea/pull-requests.ts";
import { waitFor } from "../support/kubectl.ts";
import { killOperator, pauseSupervisor, resumeSupervisor, untilOperatorServes } from "../support/operator.ts";
import { TEST_DEADLINE_MS } from "../support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
let pull: PullRequest;
afterEach(resumeSupervisor);
afterAll(() => pull?.close());
afterAll(() => pull?.removeBranch());
afterAll(() => environments.removeAll());

test("a pull request that is closed while the platform is down loses its environment when the platform is back", async () => {
  ({ pull } = await PullRequest.open());
  const name = pull.environment;
  environments.adopt(name);
  await waitFor(["--for=create", `eenv/${name}`], 30);
  const { uid } = (await untilReady(name)).metadata;
  expect(await madeFor(uid)).not.toEqual([]);

  await pauseSupervisor();
  const killed = await killOperator();
  await pull.close();
  await resumeSupervisor();
  await untilOperatorServes(killed);

  // Gitea never tries again by itself: the platform asks.
  await untilGone(name);
  expect(await madeFor(uid)).toEqual([]);
  const found = (await pull.deliveries()).filter(({ spec }) => spec.door === "inquiry");
  expect(found.map(({ spec, status }) => [spec.event.pullRequest?.action, status?.phase])).toEqual([
    ["closed", "acted"],
  ]);
});

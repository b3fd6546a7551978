import { expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { giteaUrl, send } from "./support/gitea/gitea.ts";
import { TEST_DEADLINE_MS, tokens } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

/** No test opens its pull requests, so nothing waits for webhooks that its hook misses. */
const hooks = `${giteaUrl}/api/v1/repos/shop/frontend/hooks`;
const path = "/v2/repos/shop-frontend/webhook";

interface Report {
  readonly address: string;
  readonly hooks: readonly { readonly id: string; readonly here: boolean; readonly state: string }[];
  readonly last_received: { readonly id: string } | null;
  readonly problems: readonly { readonly reason: string; readonly next_step: string }[];
}

async function report(method: "GET" | "POST" = "GET"): Promise<Report> {
  const { status, body } = await ask<{ data: Report }>(method, path, { token: tokens.administrator });
  expect(status).toBe(200);
  return body.data;
}

/** The host is read once in 15 s. */
async function untilProblems(reasons: readonly string[]): Promise<Report> {
  let found: Report | undefined;
  const check = async () => {
    found = await report();
    return found.problems.map(({ reason }) => reason).join() === reasons.join();
  };
  const what = () => `the problems ${reasons.join()} of the hook, not ${JSON.stringify(found)}`;
  await waitUntil({ what, check, deadlineMs: 40_000, pollMs: 3_000 });
  return found as Report;
}

test("a broken webhook is found, repaired, and delivers", async () => {
  const fine = await untilProblems([]);
  expect(fine.hooks).toMatchObject([{ here: true, state: "active" }]);
  const [hook] = fine.hooks;
  await send("PATCH", `${hooks}/${hook?.id}`, { active: false, events: ["push"] });

  const broken = await untilProblems(["HookInactive", "EventsMissing"]);
  expect(broken.problems.map(({ next_step }) => next_step)).toEqual(
    broken.problems.map(() => "POST /api/v2/repos/shop-frontend/webhook repairs it."),
  );
  expect((await ask("POST", path)).status).toBe(403);

  const repaired = await report("POST");
  expect(repaired).toMatchObject({ problems: [], hooks: [{ here: true, state: "active" }] });
  await send("POST", `${hooks}/${repaired.hooks[0]?.id}/tests`);
  const check = async () => ((await report()).last_received?.id ?? "") !== (fine.last_received?.id ?? "");
  await waitUntil({ what: "a delivery of the repaired hook", check, deadlineMs: 20_000, pollMs: 1_000 });
});

import { killOperator, pauseSupervisor, resumeSupervisor, untilOperatorServes } from "../../support/operator.ts";
import { asDeveloper, expect, ownName, removeEnvironment, signIn, test } from "../support.ts";

const name = ownName("restart");
test.afterAll(async () => {
  await resumeSupervisor();
  await removeEnvironment(name);
});

test("the page goes on after the server was killed: it says so, and shows what happened meanwhile", async ({
  page,
  complaints,
}) => {
  complaints.expect(/net::ERR_|status of 50/);
  const sources = { backend_repo: "sample-backend", backend_branch: "main" };
  await signIn(page, complaints, "maintainer");
  await expect(page.getByText("live", { exact: true })).toBeVisible();

  await pauseSupervisor();
  const former = await killOperator();
  await expect(page.getByText("reconnecting")).toBeVisible();
  await resumeSupervisor();
  await untilOperatorServes(former);
  await asDeveloper.call("POST /api/v2/environments", { body: { environment_name: name, ...sources, ttl: 1 } });
  await expect(page.getByRole("link", { name, exact: true })).toBeVisible();
  await expect(page.getByText("live", { exact: true })).toBeVisible();
});

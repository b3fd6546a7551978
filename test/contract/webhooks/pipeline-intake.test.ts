import { beforeEach, describe, expect, test } from "@jest/globals";
import { HEAD_COMMIT, pipelineBody, signedHeaders } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { PIPELINE_TOKEN } from "../../support/http/memory-webhooks.ts";
import { OTHER_KEY, PIPELINES, webhookEndpoints } from "./webhook-endpoints.ts";

const endpoints = webhookEndpoints();
const { post, delivered } = endpoints;

describe("the route of pipeline hosts", () => {
  beforeEach(() => endpoints.service.branchHeads.push("shop-api", "main", HEAD_COMMIT));
  const report = (more = {}, headers: object = { "x-pipeline-token": PIPELINE_TOKEN }) =>
    post(JSON.stringify(pipelineBody({ project: "shop/shop-api", ...more })), headers, PIPELINES);

  test("takes a report with the token", async () => {
    expect((await report()).body).toEqual({
      status: "processed",
      message: expect.any(String),
      actions_taken: ["environment_created"],
    });
  });

  // Abuse case 74.
  test.each([
    ["no token", {}],
    ["a wrong one", { "x-pipeline-token": OTHER_KEY }],
    ["a signature", signedHeaders("x")],
  ])("refuses %s", async (_case, headers) => {
    expectProblem(await report({}, headers), 401);
    expect(delivered()).toEqual([]);
  });

  test("does not take the token from the query", async () => {
    const text = JSON.stringify(pipelineBody({ project: "shop/shop-api" }));
    const reply = await endpoints.service.http
      .post(`${PIPELINES}?X-Pipeline-Token=${PIPELINE_TOKEN}`)
      .set("content-type", "application/json")
      .send(text);
    expectProblem(reply, 401);
  });

  test("a report that comes twice under no id makes one environment", async () => {
    await report();
    await report();
    expect(endpoints.service.environments.list()).toHaveLength(1);
    expect(delivered()).toHaveLength(1);
  });
});

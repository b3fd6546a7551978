import { describe, expect, test } from "@jest/globals";
import { githubAnswer, githubContract } from "../../../support/doubles/github-rest/contract.ts";

const REPOSITORY = "/repos/shop/shop-api";
const callOf = (route: string, body = {}) => ({ route, body, authorization: undefined });
const hook = { name: "web", active: true, events: ["push"] };

describe("GitHub's published description", () => {
  test.each<[string, object]>([
    [`GET ${REPOSITORY}/pulls?state=open&per_page=100&page=2`, {}],
    [`POST ${REPOSITORY}/hooks`, { ...hook, config: { url: "https://platform.test", insecure_ssl: "0" } }],
    [`DELETE ${REPOSITORY}/environments/shop-pr-42`, {}],
    ["POST /graphql", { query: "{ viewer { databaseId } }" }],
  ])("accepts %s", (route, body) => {
    expect(githubContract.breachOf(callOf(route, body))).toBeUndefined();
  });

  test.each<[string, object, string]>([
    [`GET ${REPOSITORY}/pullz`, {}, "is not in github-rest/operations.json"],
    [`PUT ${REPOSITORY}/hooks`, {}, "is not in github-rest/operations.json"],
    [`GET ${REPOSITORY}/pulls?limit=50`, {}, "parameters must NOT have additional properties"],
    [`GET ${REPOSITORY}/pulls?state=opened`, {}, "parameters/state must be equal to one of the allowed values"],
    [`GET ${REPOSITORY}/pulls/seven`, {}, "parameters/pull_number must be integer"],
    [`GET ${REPOSITORY}/pulls`, { state: "open" }, "it takes no body"],
    [`POST ${REPOSITORY}/issues/42/comments`, { text: "words" }, "body must have required property 'body'"],
    [`POST ${REPOSITORY}/hooks`, { ...hook, type: "gitea" }, "body must NOT have additional properties"],
    [`POST ${REPOSITORY}/hooks`, { config: { token: "x" } }, "body/config must NOT have additional properties"],
    [`PATCH ${REPOSITORY}/hooks/1`, { config: { token: "x" } }, "body/config must NOT have additional properties"],
    [`POST ${REPOSITORY}/deployments/1/statuses`, { state: "running" }, "body/state must be equal to one of"],
  ])("refuses %s with %j", (route, body, sentence) => {
    expect(githubContract.breachOf(callOf(route, body))).toContain(sentence);
  });

  test.each<[string, string, { status: number; body?: unknown }, string | undefined]>([
    ["a status of success that there is not", `DELETE ${REPOSITORY}/hooks/1`, { status: 200 }, "it never answers 200"],
    ["a body where there is none", `DELETE ${REPOSITORY}/hooks/1`, { status: 204, body: {} }, "its answer has no body"],
    ["half an answer", `GET ${REPOSITORY}/hooks`, { status: 200, body: [{ id: 1 }] }, "answer/0 must have required"],
    ["another type", `GET ${REPOSITORY}/hooks`, { status: 200, body: {} }, "answer must be array"],
    ["no refusal", `GET ${REPOSITORY}/hooks`, { status: 404, body: { message: "Not Found" } }, undefined],
  ])("finds fault with an answer: %s", (_what, route, answer, sentence) => {
    const breach = githubContract.breachIn(callOf(route), answer);
    expect(breach).toEqual(sentence === undefined ? undefined : expect.stringContaining(sentence));
  });

  test("makes an answer whole by its example", () => {
    const call = callOf(`GET ${REPOSITORY}/issues/42/comments`);
    const whole = githubAnswer(call, { status: 200, body: [{ id: 5, body: "words", user: { id: 7 } }] });
    expect(whole.body).toMatchObject([{ id: 5, body: "words", user: { id: 7, login: "octocat" } }]);
    expect(githubContract.breachIn(call, whole)).toBeUndefined();
  });
});

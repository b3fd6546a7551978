/** Repositories that were renamed on their host: an id stays, a name may become another repository's. */
import { createHmac, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Repository } from "../../../crds/repository/repository.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { pullRequestBody, WEBHOOK_KEY } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { OWN_KEY, webhookEndpoints } from "./webhook-endpoints.ts";

const endpoints = webhookEndpoints();
const { post, start, names, delivered } = endpoints;

const host = (id: string) => ({ id, kind: "github", apiUrl: `https://api.${id}.example.test` }) as const;
const settings = { hosts: [host("git"), host("other")] };
const spec = { host: "git", fullName: "acme/old", pullRequest: { enabled: true } } as const;
const known = (id: string, more: Partial<Repository["spec"]> = {}): Repository => ({
  ...aRepository("shop-api", { ...spec, ...more }),
  status: { hostRepository: { id, fullName: "acme/old" } },
});

interface Sent {
  readonly name: string;
  readonly id?: number;
  readonly action?: string;
  readonly place?: string;
  readonly key?: string;
}

function send({ name, id = 4712, action = "opened", place = "git.example.test", key = WEBHOOK_KEY }: Sent) {
  const body = pullRequestBody({
    repository: name,
    action,
    more: { head: { ref: "feature", sha: "a".repeat(40), repo: { id } } },
  });
  const repository = { id, full_name: name, clone_url: `https://${place}/${name}.git` };
  const text = JSON.stringify({ ...body, repository });
  const signature = createHmac("sha256", key).update(text).digest("hex");
  const headers = { "x-github-event": "pull_request", "x-github-delivery": randomUUID() };
  return post(text, { ...headers, "x-hub-signature-256": `sha256=${signature}` });
}

describe.each([
  ["that a person registered", () => aRepository("shop-api", { ...spec, hostId: "4712" })],
  ["that its first webhook gave", () => known("4712")],
] as const)("a repository of the id %s", (_id, repository) => {
  beforeEach(() => start({ settings, repositories: [repository()] }));

  test("is known under its new name, and the delivery says that name", async () => {
    await send({ name: "acme/old" });
    expect(names()).toEqual(["shop-api-pr-42"]);
    expect((await send({ name: "acme/new", action: "closed" })).status).toBe(200);
    expect(endpoints.service.environments.list()[0]?.metadata.deletionTimestamp).toBeDefined();
    expect(delivered().map(({ spec: { hostRepository, repositories } }) => [hostRepository, repositories])).toEqual([
      [{ id: "4712", fullName: "acme/old" }, ["shop-api"]],
      [{ id: "4712", fullName: "acme/new" }, ["shop-api"]],
    ]);
  });

  test("abuse: is not another one that was given its old name", async () => {
    expectProblem(await send({ name: "acme/old", id: 9999 }), 401);
    expect(names()).toEqual([]);
  });

  test("abuse: is not one with the same id on another host", async () => {
    expectProblem(await send({ name: "acme/new", place: "other.example.test" }), 401);
    expectProblem(await send({ name: "acme/new", place: "git.example.test.evil.test" }), 401);
    expectProblem(await send({ name: "acme/new", place: "" }), 401);
    expect(names()).toEqual([]);
  });

  test("abuse: is known under no name without its key", async () => {
    expectProblem(await send({ name: "acme/new", key: OWN_KEY }), 401);
  });
});

test("the first webhook gives the id to the delivery, and an id that is not known decides nothing", async () => {
  await start({ settings, repositories: [aRepository("shop-api", spec)] });
  expectProblem(await send({ name: "acme/new" }), 401);
  expect((await send({ name: "ACME/Old" })).status).toBe(200);
  expect(delivered().map(({ spec: { hostRepository } }) => hostRepository)).toEqual([
    { id: "4712", fullName: "ACME/Old" },
  ]);
});

test("abuse: a name that is registered is that Repository's, whatever else has its id", async () => {
  const newer = aRepository("newer", { ...spec, fullName: "acme/new" });
  await start({ settings, repositories: [known("4712"), newer] });
  await send({ name: "acme/new" });
  expect(names()).toEqual(["newer-pr-42"]);
});

test("a repository that was moved to an organization that is not allowed gets no environment", async () => {
  const moved = { ...known("4712"), status: { hostRepository: { id: "4712", fullName: "stranger/old" } } };
  const webhooks = { secrets: [{ name: "webhook-key", key: "latest" }], allowedOrganizations: ["acme"] };
  await start({ settings: { ...settings, webhooks }, repositories: [moved] });
  const reply = await send({ name: "stranger/old" });
  expect(reply.body).toMatchObject({ environment_created: false, message: expect.stringContaining("'stranger'") });
});

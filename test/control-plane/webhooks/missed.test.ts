import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { webhookDeliveryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { HostApiDouble } from "../../support/doubles/host-api.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT, type World } from "../../support/worlds/environment-world.ts";
import { createGiteaWorld, startGitea } from "../../support/worlds/gitea-world.ts";

const namespace = "ephemeral-system";
let world: World;
let api: HostApiDouble;

beforeAll(async () => {
  world = await createGiteaWorld();
}, 180_000);
afterEach(async () => {
  await world.abandonOperators();
  await api.stop();
}, 60_000);
afterAll(() => world.stop(), 60_000);

async function given(name: string) {
  const gitea = await startGitea();
  api = gitea.api;
  const feedback = { comment: "never", status: false, deployment: false } as const;
  await world.register(name, { fullName: `shop/${name}`, host: "git", pullRequest: { enabled: true }, feedback });
  return () => world.startOperator({ settings: gitea.settings });
}

const now = (seconds = 0) => new Date(Date.now() + seconds * 1000).toISOString();
const foundOf = async (repository: string) => {
  const { items } = await world.admin.list(webhookDeliveryType, { namespace });
  return items.filter(({ spec }) => spec.repositories?.includes(repository));
};
const untilFound = (repository: string, reason: string) =>
  until(async () => (await foundOf(repository)).some(({ status }) => status?.reason === reason), {
    what: `a delivery of '${repository}' with the outcome ${reason}`,
    deadlineMs: 30_000,
  });
const questions = () => api.calls.filter(({ route }) => route.includes("/pulls?")).length;
const untilRequested = (before: number) =>
  until(async () => questions() > before, { what: "another question for the open pull requests", deadlineMs: 3e4 });

test("a pull request that opened and one that closed while no operator ran are found at the next start", async () => {
  const start = await given("missed");
  const spec: EnvironmentSpec = {
    backend: { repository: "missed", branch: "feature", commit: COMMIT },
    trigger: { kind: "pull_request", provider: "git", repository: "missed", number: 41 },
  };
  const ended = await world.create("missed-pr-41", spec);
  api.pulls.push({ number: 41, state: "closed", updatedAt: now() }, { number: 43, updatedAt: now(5) });
  await start();
  const made = await world.expectPhase("missed-pr-43", "ready");
  expect(made.spec.trigger).toMatchObject({ kind: "pull_request", number: 43, provider: "git" });
  await world.expectGone(ended);
  const outcomes = (await foundOf("missed")).map(({ spec: { source, event }, status }) => [
    source,
    event.pullRequest?.number,
    event.pullRequest?.action,
    status?.phase,
  ]);
  expect(outcomes.sort()).toEqual([
    ["refetch", 41, "closed", "acted"],
    ["refetch", 43, "opened", "acted"],
  ]);
}, 120_000);

test("what a user deleted stays deleted, over restarts and errors of the host", async () => {
  const start = await given("excluded");
  api.pulls.push({ number: 42, updatedAt: now(5) });
  const operator = await start();
  const made = await world.expectPhase("excluded-pr-42", "ready");
  await world.delete(made);
  await world.expectGone(made);
  await operator.stop();

  api.pulls.splice(0, 1, { number: 42, labels: ["bug"], updatedAt: now(60) });
  const requested = questions();
  const again = await start();
  await untilRequested(requested);
  api.pulls.splice(0, 1, { number: 42, base: "release", updatedAt: now(61) });
  await again.stop();
  await start();
  await untilFound("excluded", "DeletedBefore");
  expect(await world.find("excluded-pr-42")).toBeUndefined();
}, 120_000);

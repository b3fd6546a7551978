import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type HostApiDouble, SELF } from "../../support/doubles/host-api.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT, type World } from "../../support/worlds/environment-world.ts";
import { createGiteaWorld, startGitea } from "../../support/worlds/gitea-world.ts";

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
  await world.register(name, { fullName: `shop/${name}`, host: "git" });
  const spec: EnvironmentSpec = {
    backend: { repository: name, branch: "feature", commit: COMMIT },
    trigger: { kind: "pull_request", provider: "git", repository: name, number: 42 },
  };
  const start = (more = {}) => world.startOperator({ settings: gitea.settings, ...more });
  return { start, operator: await start(), made: await world.create(`${name}-pr-42`, spec) };
}

const states = () => api.statuses.map(({ state, sha }) => [state, sha]);
const untilReported = (made: EphemeralEnvironment, state: string) =>
  world.expectState(made.metadata.name, `having reported '${state}'`, ({ status }) => {
    const { status: reported, comment, problem } = status?.feedback ?? {};
    return status?.phase === "ready" && reported?.state === state && comment !== undefined && problem === undefined;
  });

describe("the pull request of an environment", () => {
  test("has one status and one comment, which no restart repeats, and which say when it is gone", async () => {
    const { start, operator, made } = await given("reported");
    const marker = "<!-- ephemeral-environments: reported-pr-42 -->";
    const foreign = { id: 1, body: `${marker}\nby another account`, user: { id: SELF + 1 } };
    api.comments.push({ ...foreign });
    const reported = await untilReported(made, "success");
    expect(states().at(-1)).toEqual(["success", COMMIT]);
    expect(new Set(api.statuses.map(({ context }) => context))).toEqual(new Set(["ephemeral-environment/reported"]));
    expect(api.comments).toHaveLength(2);
    expect(api.comments[1]?.body).toContain(reported.status?.urls?.backend ?? "no URL");

    await operator.stop();
    const before = api.calls.length;
    await start();
    await world.reconcile(made.metadata.name);
    // Every start checks for missed pull requests.
    const isQuestion = (route: string) => route.startsWith("GET /repos/shop/reported/pulls");
    expect(api.calls.slice(before).filter(({ route }) => !isQuestion(route))).toEqual([]);

    await world.delete(made);
    await world.expectGone(made);
    expect(api.comments[0]).toEqual(foreign);
    expect(api.comments[1]?.body).toBe(`${marker}\n**Environment \`reported-pr-42\` is gone**`);
    expect(api.statuses.at(-1)).toMatchObject({ state: "success", description: "The environment is gone" });
  }, 120_000);

  test("has the status of its commit for itself, until a pipeline's environment of the same commit is left", async () => {
    const { made } = await given("shared");
    await untilReported(made, "success");
    const before = states();
    await world.create("shared-feature", {
      backend: { repository: "shared", branch: "feature", commit: COMMIT },
      trigger: { kind: "pipeline", provider: "git", repository: "shared" },
    });
    const other = await world.expectPhase("shared-feature", "ready");
    expect(states()).toEqual(before);

    await world.delete(made);
    await until(() => api.statuses.length > before.length, { what: "the status of the other", deadlineMs: 20_000 });
    await world.expectGone(made);
    expect(api.statuses.slice(before.length)).toMatchObject([{ sha: COMMIT, target_url: other.status?.url }]);
    await world.delete(other);
    await world.expectGone(other);
    expect(api.statuses.at(-1)).toMatchObject({ description: "The environment is gone" });
  }, 120_000);

  test("keeps no environment when its host is away, and the record says what was not reported", async () => {
    const { start, operator, made } = await given("untold");
    await untilReported(made, "success");
    api.answerWith(() => ({ status: 502, body: { message: "Bad Gateway" } }));
    await world.delete(made);
    const waits = ({ status }: EphemeralEnvironment) =>
      status?.teardown?.steps.some(({ name, state }) => name === "feedback" && state === "waiting") ?? false;
    await world.expectState(made.metadata.name, "waiting for its host", waits);
    await operator.stop();
    await start({ clock: clockAhead(0.1) });
    await world.expectGone(made);
    const record = await until(
      () => world.admin.find(recordType, { name: made.metadata.uid, namespace: "ephemeral-system" }),
      { what: "the record", deadlineMs: 10_000 },
    );
    expect(JSON.stringify(record)).toContain("Bad Gateway");
  }, 120_000);
});

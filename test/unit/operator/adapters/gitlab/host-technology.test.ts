import { afterEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { gitlab } from "../../../../../operator/adapters/gitlab/host-technology.ts";
import { hostApi } from "../../../../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import { startGitlabApi } from "../../../../support/doubles/gitlab-api.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { commitA } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const repository = { host: "git", fullName: "shop/shop-api" };
const marker = "<!-- environment of 42 -->";
const { signal } = new AbortController();

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

async function scene() {
  const api = await startGitlabApi();
  const connection = hostApi({
    host: { id: "git", apiUrl: api.apiUrl },
    technology: gitlab,
    clock: new TestClock(),
    token: async () => new Sensitive("the-token"),
    calls: hostCalls(silentLog).of("git"),
  });
  ends.push(connection.close, api.stop);
  return { api, host: gitlab.reporter(connection) };
}

describe("feedback to gitlab", () => {
  const report = { commit: commitA, context: "environment", description: "words" } as const;

  test("sets the status of a commit; one that is running already is done", async () => {
    const { api, host } = await scene();
    await host.report(repository, { ...report, state: "pending" }, signal);
    await host.report(repository, { ...report, state: "pending" }, signal);
    await host.report(repository, { ...report, state: "success", url: "https://shop.env.test" }, signal);
    expect(api.statuses).toMatchObject([
      { sha: commitA, state: "running", name: "environment" },
      { state: "success", target_url: "https://shop.env.test" },
    ]);
    expect(api.calls).toHaveLength(3);
  });

  test("takes no other refusal for a success", async () => {
    const { api, host } = await scene();
    const message = 'Cannot transition status via :run from :canceled (Reason(s): Status cannot transition via "run")';
    api.answerWith(() => ({ status: 400, body: { message } }));
    await expect(host.report(repository, { ...report, state: "pending" }, signal)).rejects.toThrow(":canceled");
  });

  test("edits its note in place, finds a lost one by its marker and touches no other author's", async () => {
    const { api, host } = await scene();
    api.notes.push({ id: 1, body: `${marker}\nby another account`, author: { id: 8 } });
    const note = { number: 42, marker, mayCreate: true };
    const id = await host.comment(repository, { ...note, text: "one" }, signal);
    expect(await host.comment(repository, { ...note, text: "two" }, signal)).toBe(id);
    expect(await host.comment(repository, { ...note, text: "three", id: 999 }, signal)).toBe(id);
    expect(api.notes.map(({ body }) => body)).toEqual([`${marker}\nby another account`, `${marker}\nthree`]);
  });
});

import { afterEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import { gitea } from "../../operator/adapters/gitea/host-technology.ts";
import { github } from "../../operator/adapters/github/host-technology.ts";
import { gitlab } from "../../operator/adapters/gitlab/host-technology.ts";
import { hostApi } from "../../operator/adapters/host-api/host-api.ts";
import { hostCalls } from "../../operator/adapters/host-api/host-calls.ts";
import { PullRequestHostFailed } from "../../operator/ports/webhooks/pull-request-host.ts";
import { githubContract } from "../support/doubles/github-rest/contract.ts";
import { giteaHooks } from "../support/doubles/host-hooks/gitea.ts";
import { githubHooks } from "../support/doubles/host-hooks/github.ts";
import { gitlabHooks } from "../support/doubles/host-hooks/gitlab.ts";
import { add } from "../support/doubles/host-hooks/host-hook.ts";
import { memoryRepositoryHooks } from "../support/doubles/memory/webhooks/repository-hooks.ts";
import { startRecordingHost } from "../support/doubles/recording-host.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { repositoryHooksSuite } from "./suites/repository-hooks.suite.ts";

const KINDS = {
  github: { prefix: "", contract: githubContract, double: githubHooks, technology: github },
  gitea: { prefix: "/api/v1", contract: undefined, double: giteaHooks, technology: gitea },
  gitlab: { prefix: "/api/v4", contract: undefined, double: gitlabHooks, technology: gitlab },
} as const;

async function world(kind: keyof typeof KINDS) {
  const { prefix, contract, double, technology } = KINDS[kind];
  const host = double();
  const api = await startRecordingHost(host.routes, prefix, contract);
  const connection = hostApi({
    host: { id: "git", apiUrl: api.apiUrl },
    technology,
    clock: new TestClock(),
    token: async () => new Sensitive("the-token"),
    calls: hostCalls(silentLog).of("git"),
  });
  const answerWith = (status: number) => {
    host.answer = status;
  };
  return {
    api,
    host,
    hooks: technology.hooks(connection),
    answerWith: kind === "gitea" ? undefined : answerWith,
    async stop() {
      await connection.close();
      await api.stop();
    },
  };
}

repositoryHooksSuite("GitHub", () => world("github"));
repositoryHooksSuite("Gitea", () => world("gitea"));
repositoryHooksSuite("GitLab", () => world("gitlab"));
repositoryHooksSuite("in memory", async () => ({
  hooks: memoryRepositoryHooks(),
  answerWith: undefined,
  stop: async () => undefined,
}));

const repository = { host: "git", fullName: "shop/shop-api" };
const url = "https://environments.example.test/api/webhooks/repohost";
const key = "a-key-of-thirty-two-bytes-or-more";
const { signal } = new AbortController();

let current: Awaited<ReturnType<typeof world>> | undefined;
afterEach(async () => {
  await current?.stop();
  current = undefined;
});
const given = async (kind: keyof typeof KINDS) => {
  current = await world(kind);
  return current;
};
const put = (value = key) => current?.hooks.put(repository, { address: url, key: new Sensitive(value) }, signal);
const reasons = async () => {
  const [hook] = (await current?.hooks.list(repository, signal)) ?? [];
  return hook && [hook.state, ...hook.faults.map(({ reason, message }) => `${reason}: ${message}`)];
};

/** Fields of a hook in its host's form, with every possible fault. */
const WRONG = {
  github: { active: false, events: ["push"], config: { url, content_type: "form", insecure_ssl: "1" } },
  gitea: {
    type: "slack",
    active: false,
    branch_filter: "main",
    events: ["push"],
    config: { url, content_type: "json" },
  },
  gitlab: {
    url,
    push_events: true,
    push_events_branch_filter: "main",
    custom_webhook_template: "{}",
    enable_ssl_verification: false,
    alert_status: "disabled",
  },
};
const FOUND = {
  github: [
    "inactive",
    "EventsMissing: it does not send pull_request, workflow_run, merge_group",
    "FormatWrong: it does not send JSON",
    "CertificateUnchecked: it does not check our certificate",
    "SecretMissing: it has no secret",
  ],
  gitea: [
    "inactive",
    "EventsMissing: it does not send pull_request, pull_request_label, pull_request_sync, delete, workflow_run",
    "BranchesFiltered: it tells of some branches only",
    "FormatWrong: it does not send Gitea's JSON",
  ],
  gitlab: [
    "paused",
    "EventsMissing: it does not send merge_requests_events, pipeline_events",
    "BranchesFiltered: it tells of pushes to some branches only",
    "FormatWrong: it sends bodies of its own template",
    "CertificateUnchecked: it does not check our certificate",
    "SecretMissing: it has no token",
  ],
};

const RIGHTS = { github: "admin:repo_hook", gitea: "write:repository", gitlab: "Maintainer" };

describe.each(["github", "gitea", "gitlab"] as const)("the hook of a repository on %s", (kind) => {
  test("is repaired, whatever is wrong with it, and has the key", async () => {
    const { host, api } = await given(kind);
    add(host.hooks, { fields: WRONG[kind], secret: undefined });
    expect(await reasons()).toEqual(FOUND[kind]);
    await put();
    expect(await reasons()).toEqual(["active"]);
    expect(host.hooks.map(({ secret }) => secret)).toEqual([key]);
    await put("another-key-of-thirty-two-bytes-or-more");
    expect(host.hooks.map(({ secret }) => secret)).toEqual(["another-key-of-thirty-two-bytes-or-more"]);
    expect(new Set(api.calls.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer the-token"]));
  }, 60_000);

  test("takes a right of the token that the host's documentation names", async () => {
    const { hooks, api } = await given(kind);
    expect(hooks.neededRight(repository)).toContain(RIGHTS[kind]);
    expect(api.calls).toEqual([]);
  });

  test("replaces others of its address", async () => {
    const { host } = await given(kind);
    for (let count = 0; count < 3; count++) add(host.hooks, { fields: WRONG[kind], secret: undefined });
    await put();
    expect(host.hooks).toHaveLength(1);
    expect(await reasons()).toEqual(["active"]);
  }, 60_000);

  test("reports the status of a refusal, and nothing of the key or the token", async () => {
    const { api } = await given(kind);
    api.answerWith(() => ({ status: 403, body: { message: "the token lacks a right" } }));
    const failure = await put()?.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PullRequestHostFailed);
    expect(failure).toMatchObject({ status: 403, message: expect.stringContaining("lacks a right") });
    expect(String(failure)).not.toMatch(/the-token|a-key-of/);
  });
});

test("Gitea has the new hook before the former one goes", async () => {
  const { host, api } = await given("gitea");
  add(host.hooks, { fields: WRONG.gitea, secret: undefined });
  await put();
  expect(api.calls.map(({ route }) => route.split(" ")[0])).toEqual(["GET", "POST", "DELETE"]);
});

describe("GitLab", () => {
  test("takes a signing token as such", async () => {
    const { host, api } = await given("gitlab");
    const token = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
    await put(token);
    expect(host.hooks.map(({ secret }) => secret)).toEqual([token]);
    expect(api.calls.find(({ route }) => route.startsWith("POST"))?.body).not.toHaveProperty("token");
  });

  test("goes on with a paused hook when a test is accepted", async () => {
    const { host, hooks, answerWith } = await given("gitlab");
    const { id } = add(host.hooks, { fields: WRONG.gitlab, secret: key });
    answerWith?.(503);
    await expect(hooks.resume(repository, String(id), signal)).rejects.toThrow("503");
    expect((await reasons())?.[0]).toBe("paused");
    answerWith?.(200);
    await hooks.resume(repository, String(id), signal);
    expect((await reasons())?.[0]).toBe("active");
  });
});

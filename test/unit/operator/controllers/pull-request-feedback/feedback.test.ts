import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../config/settings.ts";
import { reportedCommitKey } from "../../../../../crds/environment/commit-status.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { EXCLUDED_BY_ANNOTATION } from "../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../crds/repository/repository.ts";
import { createFeedbackReconciler } from "../../../../../operator/controllers/pull-request-feedback/reconcile.ts";
import { reportDeleted } from "../../../../../operator/host-reports/report-deleted.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { ReconcileContext } from "../../../../../operator/kit/controller/controller.ts";
import { memoryPullRequestHost } from "../../../../support/doubles/memory/webhooks/pull-request-host.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";

const commitB = "b".repeat(40);
const settings = settingsFrom({
  ...testSettings,
  publicUrl: "https://platform.test",
  hosts: [
    { id: "git", kind: "gitea", apiUrl: "https://git.test/api/v1", token: { name: "host-token", key: "latest" } },
    { id: "untold", kind: "gitea", apiUrl: "https://other.test/api/v1" },
  ],
});
const { signal } = new AbortController();
const reconciling: ReconcileContext = { signal, requeueUrgently: () => undefined };

type Status = NonNullable<EphemeralEnvironment["status"]>;
const ready: Status = {
  phase: "ready",
  observedGeneration: 1,
  readyAt: CREATED,
  expiresAt: "2026-01-02T00:00:00.000Z",
  url: "https://shop.env.test",
  urls: { backend: "https://shop--api.env.test", hosts: { admin: "https://shop--admin.env.test" } },
};
const failed: Status = {
  phase: "failed",
  observedGeneration: 1,
  conditions: [
    {
      type: "Ready",
      status: "False",
      reason: "ImagePull",
      lastTransitionTime: CREATED,
      message: "the `image`\nis not there @everyone",
    },
  ],
};

function scene({ feedback, host = "git" }: Pick<RepositorySpec, "feedback" | "host"> = {}) {
  const reported = memoryPullRequestHost();
  const repository = repositoryFixture("shop-api", { host, fullName: "shop/shop-api", ...(feedback && { feedback }) });
  let environment = environmentFixture({
    spec: { trigger: { kind: "pull_request", provider: host, repository: "shop-api", number: 42 } },
  });
  let refusals: Error[] = [];
  let others: readonly EphemeralEnvironment[] = [];
  const repositories = { find: () => repository };
  const context = {
    settings,
    repositories,
    log: silentLog,
    pullRequestHost: reported.host,
    environment: (name: string) => [environment, ...others].find(({ metadata }) => metadata.name === name),
    reportersOf: (key: string) => [...others, environment].filter((one) => reportedCommitKey(one) === key),
    statusWriter: {
      addFinalizer: async (made: EphemeralEnvironment) => made,
      removeFinalizer: async () => undefined,
      async writeStatus(made: EphemeralEnvironment, status: Status) {
        const refusal = refusals.pop();
        if (refusal !== undefined) throw refusal;
        const written = { ...made, status };
        const isOther = made.metadata.uid !== environment.metadata.uid;
        if (isOther) others = others.map((one) => (one.metadata.uid === made.metadata.uid ? written : one));
        else environment = written;
        return written;
      },
    },
  };
  let reconcile = createFeedbackReconciler(context);
  const beginDeletion = () => {
    environment = { ...environment, metadata: { ...environment.metadata, deletionTimestamp: CREATED } };
  };
  return {
    ...reported,
    /** Restarts the operator. */
    restart() {
      reconcile = createFeedbackReconciler(context);
    },
    /** Other environments of the Repository. */
    stand(...beside: readonly EphemeralEnvironment[]) {
      others = beside;
    },
    /** Records the rule that ended it. */
    exclude(rule: string) {
      const { metadata } = environment;
      environment = { ...environment, metadata: { ...metadata, annotations: { [EXCLUDED_BY_ANNOTATION]: rule } } };
    },
    beginDeletion,
    refuseWrites: (...errors: Error[]) => {
      refusals = errors;
    },
    async becomes(status: Status, { generation = 1, commit = commitA } = {}) {
      const { metadata, spec, status: former } = environment;
      environment = {
        ...environment,
        metadata: { ...metadata, generation },
        spec: { ...spec, backend: { ...spec.backend, commit } },
        status: { ...status, ...(former?.feedback && { feedback: former.feedback }) },
      };
      return reconcile("shop", reconciling);
    },
    again: (name = "shop") => reconcile(name, reconciling),
    reportDeleted() {
      beginDeletion();
      return reportDeleted(environment, context, signal);
    },
    status: () => environment.status,
  };
}

describe("the host of a pull request", () => {
  test("receives each state once, also after a restart", async () => {
    const { becomes, again, restart, reports, comments, deployments, status } = scene();
    await becomes({ phase: "creating", observedGeneration: 1 });
    await becomes({ phase: "building", observedGeneration: 1 });
    await becomes(ready);
    await again();
    restart();
    await again();
    expect(reports).toMatchObject([
      { commit: commitA, context: "ephemeral-environment/shop-api", state: "pending" },
      { commit: commitA, state: "success", url: "https://shop.env.test" },
    ]);
    expect(deployments.map(({ state, environment }) => [state, environment])).toEqual([
      ["pending", "shop"],
      ["success", "shop"],
    ]);
    expect(comments.map(({ id }) => id)).toEqual([undefined, 5]);
    expect(comments[1]?.text).toContain(
      "\n- backend: https://shop--api.env.test\n- admin: https://shop--admin.env.test\n",
    );
    expect(comments[1]?.text).toContain("2026-01-02T00:00:00.000Z");
    expect(comments[1]?.text).toContain("PUT https://platform.test/api/environments/shop");
    expect(status()?.feedback).toMatchObject({ status: { commit: commitA, state: "success" }, comment: { id: 5 } });
  });

  test("receives no success of a commit that does not run yet", async () => {
    const { becomes, reports } = scene();
    await becomes(ready);
    await becomes(ready, { generation: 2, commit: commitB });
    await becomes({ ...ready, observedGeneration: 2 }, { generation: 2, commit: commitB });
    expect(reports.map(({ commit, state }) => [commit, state])).toEqual([
      [commitA, "success"],
      [commitB, "pending"],
      [commitB, "success"],
    ]);
  });

  test("receives the reason of a failure, in text that is no Markdown", async () => {
    const { becomes, reports, comments } = scene();
    await becomes(failed);
    expect(reports).toMatchObject([
      { state: "failure", description: "Failed: ImagePull: the `image` is not there @everyone" },
    ]);
    expect(comments[0]?.text).toContain("`ImagePull: the 'image' is not there @everyone`");
  });

  test("receives the reports again, and the rest, when it was away", async () => {
    const { becomes, again, setReachable, reports, comments, status } = scene();
    setReachable(false);
    await expect(becomes(ready)).rejects.toThrow("the host is away");
    expect(status()?.feedback).toEqual({ problem: "the host is away" });
    setReachable(true);
    await again();
    expect([reports, comments].map(({ length }) => length)).toEqual([1, 1]);
    expect(status()?.feedback?.problem).toBeUndefined();
  });

  test("receives no report again when the report could not be stored at first", async () => {
    const { becomes, again, refuseWrites, reports, comments, status } = scene();
    refuseWrites(new Error("a conflict"));
    await expect(becomes(ready)).rejects.toThrow("a conflict");
    await again();
    expect([reports, comments].map(({ length }) => length)).toEqual([1, 1]);
    expect(status()?.feedback?.comment?.id).toBe(5);
  });

  test("has its reports stored soon after an outage of the API server, however long that lasted", async () => {
    const { becomes, again, refuseWrites, reports, status } = scene();
    const tooBusy = () => new KubeError({ status: 429, reason: "TooManyRequests" });
    refuseWrites(tooBusy(), tooBusy());
    expect(await becomes(ready)).toEqual({ requeueAfterMs: 5_000 });
    expect(await again()).toEqual({ requeueAfterMs: 5_000 });
    expect(await again()).toEqual({});
    expect(reports).toHaveLength(1);
    expect(status()?.feedback?.comment?.id).toBe(5);
  });

  test("that is away as well sets the time of the next try", async () => {
    const { becomes, refuseWrites, setReachable } = scene();
    setReachable(false);
    refuseWrites(new KubeError({ status: 0, reason: "Unreachable" }));
    await expect(becomes(ready)).rejects.toThrow("the host is away");
  });

  test("receives nothing more once the environment is being deleted", async () => {
    const { becomes, host, beginDeletion, comments, deployments } = scene();
    const report = host.report.bind(host);
    host.report = async (...reported) => {
      await report(...reported);
      beginDeletion();
    };
    await becomes(ready);
    expect([comments, deployments].map(({ length }) => length)).toEqual([0, 0]);
  });

  test.each([
    [{ comment: "never", status: false, deployment: false }, [0, 0, 0]],
    [{ comment: "never" }, [1, 0, 1]],
    [{ comment: "on_failure" }, [1, 0, 1]],
    [{ deployment: false }, [1, 1, 0]],
    [undefined, [1, 1, 1]],
  ] as const)("gets what the Repository wants of a success: %j", async (feedback, counts) => {
    const { becomes, reports, comments, deployments } = scene(feedback && { feedback });
    await becomes(ready);
    expect([reports, comments, deployments].map(({ length }) => length)).toEqual(counts);
  });

  test("gets a comment on a failure alone, which follows what comes after it", async () => {
    const { becomes, comments } = scene({ feedback: { comment: "on_failure" } });
    await becomes({ phase: "creating", observedGeneration: 1 });
    await becomes(failed);
    await becomes(ready);
    expect(comments.map(({ id }) => id)).toEqual([undefined, 5]);
  });

  test("receives nothing where the settings have no token for it", async () => {
    const { becomes, reportDeleted: end, reports, comments, retired } = scene({ host: "untold" });
    await becomes(ready);
    await end();
    expect([reports, comments, retired].map(({ length }) => length)).toEqual([0, 0, 0]);
  });

  test.each([
    [ready, "success"],
    [{ phase: "creating", observedGeneration: 1 } as const, "failure"],
  ])("gets the end, and no check stays pending", async (before, state) => {
    const { becomes, reportDeleted: end, reports, comments, retired } = scene();
    await becomes(before);
    await end();
    expect(reports.at(-1)).toMatchObject({ commit: commitA, state, description: "The environment is gone" });
    expect(comments.at(-1)).toMatchObject({ id: 5, mayCreate: false, text: "**Environment `shop` is gone**" });
    expect(retired).toEqual(["shop"]);
  });

  test.each([
    ["success", { statusWithoutEnvironment: "success" }, "No environment is wanted: the pull request lacks 'preview'"],
    ["failure", {}, "The environment is gone"],
  ] as const)("of an environment that a rule ended is reported as %s", async (state, feedback, description) => {
    const { becomes, exclude, reportDeleted: end, reports } = scene({ feedback });
    await becomes({ phase: "creating", observedGeneration: 1 });
    exclude("the pull request lacks 'preview'");
    await end();
    expect(reports.at(-1)).toMatchObject({ commit: commitA, state, description });
  });
});

describe("environments of one commit", () => {
  const trigger = { kind: "pull_request", provider: "git", repository: "shop-api" } as const;
  const other = (
    of: NonNullable<EphemeralEnvironment["spec"]["trigger"]>,
    { commit = commitA, deleted = false } = {},
  ) =>
    environmentFixture({
      spec: { trigger: of, backend: { repository: "shop-api", branch: "main", commit } },
      metadata: {
        name: "other",
        uid: "0a1b2c3d-0000-4000-8000-000000000002",
        ...(deleted && { deletionTimestamp: CREATED }),
      },
    });
  const older = other({ ...trigger, number: 41 });

  test.each([
    ["an older pull request's", older, 0],
    ["a later pull request's", other({ ...trigger, number: 43 }), 1],
    ["a pipeline's", other({ kind: "pipeline", provider: "git", repository: "shop-api" }), 1],
    ["a person's", other({ kind: "manual", repository: "shop-api" } as never), 1],
    ["an older pull request's of another commit", other({ ...trigger, number: 41 }, { commit: commitB }), 1],
    ["an older pull request's that is being deleted", other({ ...trigger, number: 41 }, { deleted: true }), 1],
  ])("have one commit status: beside %s", async (_, beside, expected) => {
    const { becomes, stand, reports, comments, deployments } = scene();
    stand(beside);
    await becomes(ready);
    expect([reports.length, comments.length, deployments.length]).toEqual([expected, 1, 1]);
  });

  test("report it anew when it is theirs again", async () => {
    const { becomes, again, stand, reports, status } = scene();
    await becomes(ready);
    stand(older);
    await becomes(failed);
    expect(status()?.feedback).not.toHaveProperty("status");
    await becomes(ready);
    expect(reports).toHaveLength(1);
    stand();
    await again();
    expect(reports.map(({ state }) => state)).toEqual(["success", "success"]);
  });

  test("report it once more when another one, which may have reported after them, forgets its own", async () => {
    const { becomes, again, stand, reports } = scene();
    const status = { commit: commitA, state: "failure", lastReportedHash: "0".repeat(40) } as const;
    stand({ ...other({ ...trigger, number: 43 }), status: { ...failed, feedback: { status } } });
    await becomes(ready);
    await again();
    expect(reports).toHaveLength(1);
    await again("other");
    expect(reports).toHaveLength(1);
    await again();
    await again();
    await again("other");
    expect(reports.map(({ state }) => state)).toEqual(["success", "success"]);
  });

  test("have it for themselves also where a rule ended one of them", async () => {
    const {
      becomes,
      exclude,
      stand,
      reportDeleted: end,
      reports,
    } = scene({
      feedback: { statusWithoutEnvironment: "success" },
    });
    await becomes(ready);
    stand(other({ ...trigger, number: 43 }));
    exclude("the pull request lacks 'preview'");
    await end();
    expect(reports).toHaveLength(1);
  });

  test("do not report their end where another one reports", async () => {
    const { becomes, stand, reportDeleted: end, reports, comments, retired } = scene();
    await becomes(ready);
    stand(other({ ...trigger, number: 43 }));
    await end();
    expect([reports.length, comments.length, retired]).toEqual([1, 2, ["shop"]]);
  });
});

import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import supertest from "supertest";
import { createApp } from "../../../api/app.ts";
import { settingsFrom } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import {
  environmentType,
  recordType,
  repositoryType,
  webhookDeliveryType,
} from "../../../operator/adapters/kubernetes/kinds.ts";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { createOperator } from "../../../operator/wiring/operator.ts";
import { memoryAuditTrail } from "../../support/doubles/memory/audit-trail.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { shareSecret } from "../../support/fixtures/shared-secret.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { pullRequestBody, signedHeaders, workflowRunBody } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { answeringProber, createWorld, type World } from "../../support/worlds/environment-world.ts";

const KEY = "the-key-of-webhooks-in-the-control-plane";
const namespace = "ephemeral-system";
const [FIRST, SECOND] = ["a".repeat(40), "b".repeat(40)];
const settings = settingsFrom({ ...testSettings, webhooks: { secrets: [{ name: "webhook-key", key: "latest" }] } });

let world: World;
const apis: StartedApi[] = [];

beforeAll(async () => {
  world = await createWorld();
  await shareSecret(world, "webhook-key", KEY);
}, 180_000);
afterEach(async () => {
  await Promise.all(apis.splice(0).map((one) => one.stop()));
  await world.abandonOperators();
}, 60_000);
afterAll(() => world.stop(), 60_000);

interface StartedApi {
  pull(repository: string, more?: Partial<Parameters<typeof pullRequestBody>[0]>, delivery?: string): Promise<Reply>;
  push(repository: string, push: { readonly ref: string; readonly after: string }): Promise<Reply>;
  /** Sends a signed push as GitHub does. */
  hosted(repository: { readonly id: number; readonly full_name: string; readonly clone_url: string }): Promise<Reply>;
  run(repository: string, run: Parameters<typeof workflowRunBody>[1]): Promise<Reply>;
  readonly audit: ReturnType<typeof memoryAuditTrail>;
  stop(): Promise<void>;
}
type Reply = supertest.Response;

/** A replica that serves, and reconciles nothing. */
async function startedApi({
  onRequest,
  more = {},
}: {
  onRequest?: RequestInterceptor;
  more?: object;
} = {}): Promise<StartedApi> {
  const audit = memoryAuditTrail();
  const shared = { settings: { ...settings, ...more }, log: silentLog, clock: systemClock, audit };
  const { kubeConfig } = world.identity;
  const interceptor = onRequest === undefined ? {} : { onRequest };
  const operator = createOperator({
    ...shared,
    ...interceptor,
    kubeConfig,
    random: Math.random,
    prober: answeringProber,
  });
  await operator.start(AbortSignal.timeout(20_000));
  const http = supertest(
    createApp({ ...shared, ...operator.ports, metrics: prometheusMetrics(), randomBytes, version: "0" }),
  );
  let stopped: Promise<void> | undefined;
  const send = (event: string, body: object, delivery = randomBytes(8).toString("hex")) => {
    const text = JSON.stringify(body);
    return http
      .post("/api/webhooks/repohost")
      .set(signedHeaders(text, { key: KEY, event, delivery }))
      .send(text);
  };
  const made: StartedApi = {
    audit,
    async pull(repository, requested = {}, delivery) {
      return send("pull_request", pullRequestBody({ repository, ...requested }), delivery);
    },
    async push(repository, { ref, after }) {
      const [, name = ""] = repository.split("/");
      return send("push", { ref, after, repository: { name, full_name: repository } });
    },
    async hosted(repository) {
      const text = JSON.stringify({ ref: "refs/heads/main", after: FIRST, repository });
      const { "x-hub-signature-256": signature } = signedHeaders(text, { key: KEY });
      const headers = { "x-github-event": "push", "x-github-delivery": randomBytes(8).toString("hex") };
      return http
        .post("/api/webhooks/repohost")
        .set({ "content-type": "application/json", "x-hub-signature-256": signature, ...headers })
        .send(text);
    },
    async run(repository, run) {
      return send("workflow_run", workflowRunBody(repository, run));
    },
    stop() {
      stopped ??= operator.stop();
      return stopped;
    },
  };
  apis.push(made);
  return made;
}

const register = (name: string) => world.register(name, { fullName: `shop/${name}`, pullRequest: { enabled: true } });
/** Events are ordered by the host's clock, also against the deletions of environments. */
const now = () => new Date().toISOString();
const deliveriesOf = async (repository: string): Promise<WebhookDelivery[]> => {
  const { items } = await world.admin.list(webhookDeliveryType, { namespace });
  return items.filter(({ spec }) => spec.repositories?.includes(repository));
};
const untilSettled = (repository: string) =>
  until(
    async () => (await deliveriesOf(repository)).every(({ status }) => (status?.phase ?? "pending") !== "pending"),
    { what: `no delivery of '${repository}' being pending`, deadlineMs: 6e4 },
  );

describe("a signed pull request", () => {
  test("gets an environment, which follows its commits and goes with it", async () => {
    await register("lived");
    await world.startOperator({ settings });
    const { pull, audit } = await startedApi();
    const opened = await pull("shop/lived", { commit: FIRST, updatedAt: now() });
    expect(opened.body).toMatchObject({ status: "processed", environment_created: true });
    const made = await world.expectPhase("lived-pr-42", "ready");
    expect(opened.body.environment_id).toBe(made.metadata.uid);
    expect(made.spec).toMatchObject({
      backend: { repository: "lived", branch: "feature/checkout", commit: FIRST },
      trigger: { kind: "pull_request", repository: "lived", number: 42, login: "dev" },
    });
    expect(audit.records).toMatchObject([{ action: "webhook create", objects: [{ uid: made.metadata.uid }] }]);

    await pull("shop/lived", { action: "synchronize", commit: SECOND, updatedAt: now() });
    await world.expectState("lived-pr-42", "on the second commit", ({ spec }) => spec.backend.commit === SECOND);
    const closed = await pull("shop/lived", { action: "closed", commit: SECOND, updatedAt: now() });
    expect(closed.body).toMatchObject({ environment_created: false, environment_id: made.metadata.uid });
    await world.expectGone(made);
    await untilSettled("lived");
    expect((await deliveriesOf("lived")).map(({ status }) => status?.phase)).toEqual(["acted", "acted", "acted"]);
  }, 120_000);

  test("that is opened again while its environment is being deleted gets another one", async () => {
    await register("reopened");
    await world.startOperator({ settings });
    const { pull } = await startedApi();
    const { body } = await pull("shop/reopened", { commit: FIRST, updatedAt: now() });
    await world.expectPhase("reopened-pr-42", "ready");
    await pull("shop/reopened", { action: "closed", commit: FIRST, updatedAt: now() });
    await pull("shop/reopened", { action: "reopened", commit: FIRST, updatedAt: now() });
    const isAnother = ({ metadata }: { metadata: { uid: string } }) => metadata.uid !== body.environment_id;
    await world.expectState("reopened-pr-42", "another one", isAnother);
    await untilSettled("reopened");
  }, 120_000);

  test("makes one environment when it comes to two replicas at once, under one id and under others", async () => {
    await register("raced");
    const replicas = [await startedApi(), await startedApi()];
    const send = (number: number, delivery?: string) =>
      Promise.all(
        replicas.map(({ pull }) => pull("shop/raced", { number, commit: FIRST, updatedAt: now() }, delivery)),
      );
    const replies = [];
    for (let number = 1; number <= 10; number++) {
      replies.push(...(await send(number, number % 2 === 0 ? `same-${number}` : undefined)));
    }
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const { items } = await world.admin.list(environmentType);
    const made = items.filter(({ spec }) => spec.trigger?.repository === "raced");
    expect(made.map(({ metadata }) => metadata.name).sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `raced-pr-${index + 1}`).sort(),
    );
    const created = replicas.flatMap(({ audit }) => audit.records);
    expect(created.filter(({ action }) => action === "webhook create")).toHaveLength(10);
  }, 60_000);
});

test("a pull request of a monorepo has both components at its head, and moves them by one write of its spec", async () => {
  const monorepo = { fullName: "shop/monorepo" };
  const web = { ...monorepo, type: "frontend", companionRepository: "mono-api" } as const;
  await world.register("mono-web", web);
  await world.register("mono-api", { ...monorepo, companionRepository: "mono-web", pullRequest: { enabled: true } });
  await world.startOperator({ settings });
  const { pull, push, audit } = await startedApi();
  await pull("shop/monorepo", { commit: FIRST, updatedAt: now() });
  const made = await world.expectPhase("mono-api-pr-42", "ready");
  expect([made.spec.backend.commit, made.spec.frontend?.commit]).toEqual([FIRST, FIRST]);

  await pull("shop/monorepo", { action: "synchronize", commit: SECOND, updatedAt: now() });
  await push("shop/monorepo", { ref: "refs/heads/feature/checkout", after: SECOND });
  const moved = await world.expectState("mono-api-pr-42", "ready on the second commit", ({ status }) => {
    const { backend, frontend } = status?.components ?? {};
    return status?.phase === "ready" && [backend, frontend].every((one) => one?.commit === SECOND);
  });
  expect(moved.metadata.generation).toBe(made.metadata.generation + 1);
  await untilSettled("mono-api");
  expect(audit.records.map(({ action }) => action)).toEqual(["webhook create", "webhook update"]);
}, 120_000);

test("a renamed repository is known by the id of its first webhook, and its condition says the new name", async () => {
  const hosts = [{ id: "git", kind: "github", apiUrl: "https://api.git.example.test" } as const];
  const cloneUrl = "https://git.example.test/acme/old.git";
  await world.register("renamed", { host: "git", cloneUrl, fullName: "acme/old", pullRequest: { enabled: true } });
  await world.startOperator({ settings: { ...settings, hosts } });
  const { hosted } = await startedApi({ more: { hosts } });
  const statusOf = async () => (await world.admin.find(repositoryType, { name: "renamed", namespace }))?.status;
  const untilCalled = (fullName: string) =>
    until(async () => (await statusOf())?.hostRepository?.fullName === fullName, { what: `the name ${fullName}` });
  expect((await hosted({ id: 4712, full_name: "acme/old", clone_url: cloneUrl })).status).toBe(200);
  await untilCalled("acme/old");
  expect((await hosted({ id: 9999, full_name: "acme/old", clone_url: cloneUrl })).status).toBe(401);
  expect((await hosted({ id: 4712, full_name: "acme/new", clone_url: cloneUrl })).status).toBe(200);
  await untilCalled("acme/new");
  expect(findCondition((await statusOf())?.conditions, "NameCurrent")).toMatchObject({
    status: "False",
    reason: "Renamed",
  });
}, 60_000);

/** Lets no request of the process reach the API server after the claim, as when it is killed. */
const diesAfterClaim: RequestInterceptor = async (request, next) => {
  const isClaim = request.verb === "create" && request.type?.kind === "WebhookDelivery";
  if (request.verb === "create" || request.verb === "patch") {
    if (!isClaim) throw new Error("the process is gone");
  }
  return next();
};

test("what a replica has stored before it was killed is finished by the operator, once its time is over", async () => {
  await register("orphaned");
  const { pull, stop } = await startedApi({ onRequest: diesAfterClaim });
  expect((await pull("shop/orphaned", { commit: FIRST, updatedAt: now() })).status).toBe(200);
  await stop();
  expect(await world.find("orphaned-pr-42")).toBeUndefined();
  const [left] = await deliveriesOf("orphaned");
  expect(left?.status).toBeUndefined();

  await world.startOperator({ settings, clock: clockAhead(31 / 3600) });
  await world.expectState("orphaned-pr-42", "being there", () => true);
  await untilSettled("orphaned");
  const [settled] = await deliveriesOf("orphaned");
  expect(settled?.status).toMatchObject({ phase: "acted", environments: [{ name: "orphaned-pr-42" }] });
}, 60_000);

test("an inbox that is full answers 503 with Retry-After, and stores nothing more; the end of a pull request is taken", async () => {
  // Before the API starts: its watch of Repositories may lag.
  for (const name of ["crowded", "beside-it"]) await register(name);
  const { pull } = await startedApi({
    onRequest: diesAfterClaim,
    more: { webhooks: { ...settings.webhooks, pending: 30 } },
  });
  const numbers = [1, 2, 3, 4, 5];
  const replies: Reply[] = [];
  for (const number of numbers) replies.push(await pull("shop/crowded", { number, updatedAt: now() }));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 503, 503]);
  const refused = replies.slice(3);
  expect(refused.every(({ headers }) => Number(headers["retry-after"]) > 0)).toBe(true);
  expect(await deliveriesOf("crowded")).toHaveLength(3);
  expect((await pull("shop/beside-it", { updatedAt: now() })).status).toBe(200);
  expect((await pull("shop/crowded", { number: 1, action: "closed", updatedAt: now() })).status).toBe(200);
}, 60_000);

// Abuse case 117: everyone with the right to comment can make a workflow of the head commit run, and fail.
test("a workflow that an issue comment started says nothing of a build; of those that do, all must succeed", async () => {
  await world.register("checked", { fullName: "shop/checked", pullRequest: { enabled: true }, pipeline: {} });
  await world.startOperator({ settings });
  const { pull, run } = await startedApi();
  const [build, lint] = [".github/workflows/build.yml", ".github/workflows/lint.yml"];
  await run("shop/checked", { id: 9, path: build, event: "issue_comment", conclusion: "failure", commit: FIRST });
  await pull("shop/checked", { commit: FIRST, updatedAt: now() });
  await world.expectPhase("checked-pr-42", "building");
  await run("shop/checked", { id: 10, path: build, event: "push", commit: FIRST });
  await run("shop/checked", { id: 11, path: lint, event: "push", conclusion: "success", commit: FIRST });
  await run("shop/checked", { id: 12, path: build, event: "issue_comment", conclusion: "failure", commit: FIRST });
  const building = await world.reconcile("checked-pr-42");
  expect(building.status?.phase).toBe("building");
  expect(building.spec.backend.pipelines).toMatchObject([
    { workflow: build, id: 10, status: "running" },
    { workflow: lint, id: 11, status: "success" },
  ]);
  await run("shop/checked", { id: 10, path: build, event: "push", conclusion: "success", commit: FIRST });
  await world.expectPhase("checked-pr-42", "ready");
  await run("shop/checked", { id: 13, path: lint, event: "push", conclusion: "failure", commit: FIRST });
  await world.expectPhase("checked-pr-42", "failed");
  await untilSettled("checked");
  const comments = (await deliveriesOf("checked")).filter(({ spec }) => spec.event.pipeline?.event === "issue_comment");
  expect(comments.map(({ status }) => status?.reason)).toEqual(["NotCounted", "NotCounted"]);
}, 120_000);

test("the environment of a pull request whose end another replica receives at the same moment is deleted", async () => {
  await register("crossed");
  await world.startOperator({ settings });
  const { pull } = await startedApi();
  await pull("shop/crossed", { commit: FIRST, updatedAt: now() });
  const made = await world.expectPhase("crossed-pr-42", "ready");
  await untilSettled("crossed");
  // As left by a replica whose cache lacked the environment.
  const [opened] = await deliveriesOf("crossed");
  const pullRequest = opened?.spec.event.pullRequest;
  if (opened === undefined || pullRequest === undefined) throw new Error("the delivery is not stored");
  const closed = { ...pullRequest, action: "closed", state: "closed", updatedAt: now() } as const;
  const spec = { ...opened.spec, deliveryId: "crossed", event: { type: "pull_request", pullRequest: closed } } as const;
  const status = { phase: "ignored", reason: "Closed", message: "the pull request is closed and has no environment" };
  const ref = { name: "crossed-delivery", namespace };
  const platform = createKubeClient({ kubeConfig: world.identity.kubeConfig });
  await platform.create(webhookDeliveryType, { metadata: ref, spec });
  await platform.patch(webhookDeliveryType, ref, { status }, { as: "merge", subresource: "status" });
  await platform.close();
  await world.expectGone(made);
  const reported = await world.admin.find(webhookDeliveryType, ref);
  expect(reported?.status).toMatchObject({
    phase: "acted",
    environments: [{ uid: made.metadata.uid, action: "deleted" }],
  });
}, 120_000);

test("abuse: the first body of a closed pull request makes nothing again when all its deliveries are dropped", async () => {
  await register("dropped");
  await world.startOperator({ settings });
  const { pull } = await startedApi();
  const opened = { commit: FIRST, updatedAt: now() };
  await pull("shop/dropped", opened);
  const made = await world.expectPhase("dropped-pr-42", "ready");
  const closedAt = now();
  await pull("shop/dropped", { action: "closed", commit: FIRST, updatedAt: closedAt });
  await world.expectGone(made);
  await untilSettled("dropped");
  const record = await world.admin.find(recordType, { name: made.metadata.uid, namespace });
  expect(record?.spec.appliedState).toEqual({ at: closedAt, state: "closed", commit: FIRST });
  for (const { metadata } of await deliveriesOf("dropped")) {
    await world.admin.delete(webhookDeliveryType, { name: metadata.name, namespace }, { uid: metadata.uid });
  }

  const later = await startedApi();
  const { body } = await later.pull("shop/dropped", opened);
  expect(body).toMatchObject({ environment_created: false, message: expect.stringContaining("Outdated") });
  expect(await world.find("dropped-pr-42")).toBeUndefined();
  const reopened = await later.pull("shop/dropped", { action: "reopened", commit: FIRST, updatedAt: now() });
  expect(reopened.body).toMatchObject({ environment_created: true });
}, 120_000);

test("abuse: events of a pull request whose environment can't go wait as one, and its end settles them", async () => {
  await register("stuck");
  await world.startOperator({ settings });
  const { pull } = await startedApi();
  const { body } = await pull("shop/stuck", { commit: FIRST, updatedAt: now() });
  const made = await world.expectPhase("stuck-pr-42", "ready");
  const held = "example.test/held";
  const { name } = made.metadata;
  const finalizers = [...(made.metadata.finalizers ?? []), held];
  await world.admin.patch(environmentType, { name }, { metadata: { finalizers } }, { as: "merge" });
  await pull("shop/stuck", { action: "closed", commit: FIRST, updatedAt: now() });
  for (let time = 0; time < 6; time++) {
    const reply = await pull("shop/stuck", { action: "reopened", commit: FIRST, updatedAt: now() });
    expect(reply.status).toBe(200);
  }
  const reasons = async () => (await deliveriesOf("stuck")).map(({ status }) => status?.reason).sort();
  const superseded = Array.from({ length: 5 }, () => "Superseded");
  await until(
    async () => (await reasons()).join() === ["Closed", "NameTerminating", "RulesMet", ...superseded].join(),
    { what: "one delivery waiting, and five superseded", deadlineMs: 3e4 },
  );
  await pull("shop/stuck", { action: "closed", commit: FIRST, updatedAt: now() });
  await untilSettled("stuck");
  const left = await world.find("stuck-pr-42");
  expect(left?.metadata.uid).toBe(body.environment_id);
  const kept = left?.metadata.finalizers?.filter((one) => one !== held) ?? [];
  await world.admin.patch(environmentType, { name }, { metadata: { finalizers: kept } }, { as: "merge" });
  await world.expectGone(made);
  expect(await world.find("stuck-pr-42")).toBeUndefined();
}, 120_000);

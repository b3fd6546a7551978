import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt } from "../../../crds/environment/lifetime.ts";
import type { ErrorCode } from "../../../crds/errors.ts";
import { signExtension } from "../../../crds/notifications/extension-token.ts";
import { extensionKeyOf } from "../../../operator/adapters/platform-keys/platform-keys.ts";
import { aRepository } from "../doubles/memory/repositories.ts";
import {
  HEAD_COMMIT,
  pipelineBody,
  pullRequestBody,
  signedHeaders,
  webhookDeliveryFixture,
} from "../fixtures/webhooks/webhook-fixture.ts";
import type { ApiService, Person } from "./api-service.ts";
import { PIPELINE_TOKEN } from "./memory-webhooks.ts";

export interface RouteCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** The call of an operation in the walk through the route table. */
export interface RouteFixture {
  /**
   * Creates the call's object, new each time, and answers the input. Every caller with the right role must be allowed to do
   * it, and it must stay hidden from a stranger (a developer of another group): the developer's own object, shared with the
   * group `shop`. Personal objects belong to `person`.
   */
  call(service: ApiService, person: Person): Promise<RouteCall> | RouteCall;
  /** Path of a missing object, where objects are owned, and the code of the 404. A stranger gets the same answer. */
  readonly absent?: { readonly params: Readonly<Record<string, string>>; readonly code?: ErrorCode };
  /** The status of a stranger's call, where it fails. */
  readonly strangerStatus?: number;
}

let count = 0;
/** Names of created objects. */
export const MADE = /made-\d+/g;
/** A unique name, for owned objects. A stranger must never read it. */
export const unused = () => `made-${++count}`;

const NOTHING: RouteFixture = { call: () => ({}) };

const onEnvironment = (
  call: Omit<RouteCall, "params"> & { readonly params?: object } = {},
  spec: Partial<EnvironmentSpec> = {},
): RouteFixture => ({
  async call(service) {
    const environment_id = unused();
    await service.environments.create(environment_id, {
      ...spec,
      backend: { repository: "shop-api", branch: "main" },
      frontend: { repository: "shop-web", branch: "main" },
      owner: { subject: `${service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      access: { groups: ["shop"] },
    });
    return { ...call, params: { environment_id, ...call.params } };
  },
  absent: { params: { environment_id: "absent" }, code: "ENV_NOT_FOUND" },
  strangerStatus: 404,
});

const onConfigSet = (body?: object): RouteFixture => ({
  async call(service) {
    const id = unused();
    await service.configSets.create(id, { access: { groups: ["shop"] } }, "dev@example.test");
    return { params: { id }, ...(body === undefined ? {} : { body }) };
  },
  absent: { params: { id: "absent" } },
  strangerStatus: 404,
});

const onToken: RouteFixture = {
  async call(service, person) {
    const token = await service.makeToken(person, { name: unused() });
    return { params: { id: token.id } };
  },
  absent: { params: { id: "0".repeat(40) } },
  strangerStatus: 404,
};

/** A call on a Repository of the group `shop`, on a host with a token in the settings. */
const ofRepository: RouteFixture = {
  call(service) {
    const id = unused();
    service.repositories.put(aRepository(id, { host: "git", access: { groups: ["shop"] } }));
    return { params: { id } };
  },
  absent: { params: { id: "absent" }, code: "ENV_REPO_NOT_FOUND" },
  strangerStatus: 404,
};

/** A call with the link of a warning before the developer's environment expires. */
const byLink: RouteFixture = {
  async call(service) {
    const { params } = await onEnvironment().call(service, "developer");
    const environment = await service.environments.find(params?.environment_id ?? "");
    if (environment === undefined) throw new Error("the environment was not made");
    const expiry = expiresAt(environment);
    const grant = { uid: environment.metadata.uid, expiresAt: expiry, addedHours: 24, endsAt: expiry };
    return { params: { token: signExtension(grant, await extensionKeyOf(service.secretManager)()) } };
  },
};

/** A list that includes the fixture's object, except for a stranger. */
function listing(made: RouteFixture): RouteFixture {
  return {
    async call(...requested) {
      await made.call(...requested);
      return { query: { limit: "100" } };
    },
  };
}

const onDelivery: RouteFixture = {
  call(service) {
    const [id, repository] = [unused(), unused()];
    service.repositories.put(aRepository(repository, { access: { groups: ["shop"] } }));
    service.webhookDeliveries.put(webhookDeliveryFixture(id, { repositories: [repository] }));
    return { params: { id } };
  },
  absent: { params: { id: "absent" } },
  strangerStatus: 404,
};

function onPullRequest(callOf: (repository: string) => RouteCall): RouteFixture {
  return {
    call(service) {
      const id = unused();
      service.repositories.put(aRepository(id, { access: { groups: ["shop"] } }));
      return callOf(id);
    },
    absent: { params: { id: "absent" }, code: "ENV_REPO_NOT_FOUND" },
    strangerStatus: 404,
  };
}

const simulated = onPullRequest((repository) => ({
  body: { repository, event: "pull_request", payload: pullRequestBody({ repository: `shop/${repository}` }) },
}));

/** Fixtures by operation. A route without a fixture fails the walk. */
export const FIXTURES: Readonly<Record<string, RouteFixture>> = {
  createEnvironment: {
    // Maintainers and admins are in no group: only open objects are usable for them.
    call: (_service, person) => {
      const backend_repo = ["maintainer", "admin"].includes(person) ? "open-api" : "shop-api";
      return { body: { environment_name: unused(), backend_repo, backend_branch: "main" } };
    },
    strangerStatus: 400,
  },
  listEnvironments: listing(onEnvironment()),
  getEnvironment: onEnvironment(),
  extendEnvironment: onEnvironment({ body: { ttl_hours: 48 } }),
  updateEnvironment: {
    ...onEnvironment(),
    async call(service, person) {
      // Maintainers and admins are not in the group of its Repository.
      const moved = ["maintainer", "admin"].includes(person) ? {} : { backend_commit: HEAD_COMMIT };
      return { ...(await onEnvironment().call(service, person)), body: { suspended: true, ...moved } };
    },
  },
  resetDatabase: onEnvironment({}, { database: { provision: true } }),
  deleteEnvironment: onEnvironment(),
  reconcileEnvironmentStatus: onEnvironment(),
  cleanupFailedEnvironments: NOTHING,
  getExtension: byLink,
  useExtension: byLink,
  checkAllUrls: onEnvironment(),
  listWorkloads: onEnvironment(),
  getLogs: onEnvironment({ params: { component: "backend" } }),
  followEnvironment: onEnvironment(),
  followEnvironments: NOTHING,
  followLogs: onEnvironment({ params: { component: "backend" } }),
  listRepositories: listing(ofRepository),
  getRepository: ofRepository,
  reloadRepositories: NOTHING,
  getConfigTemplate: NOTHING,
  getDemoDashboard: NOTHING,
  getMetrics: NOTHING,
  getSloStatus: NOTHING,
  getCostSummary: NOTHING,
  getCostDashboard: NOTHING,
  getInsightsDashboard: NOTHING,
  getEnvironmentAnalytics: NOTHING,
  getUserActivity: NOTHING,
  getCostAnalysis: NOTHING,
  getSleepInsights: NOTHING,
  createSampleEnvironment: NOTHING,
  listConfigSets: listing(onConfigSet()),
  createConfigSet: { call: () => ({ body: { name: unused() } }) },
  getConfigSet: onConfigSet(),
  replaceConfigSet: onConfigSet({ description: "another" }),
  deleteConfigSet: onConfigSet(),
  listTokens: listing(onToken),
  // The creator may be shown the token later.
  createToken: { call: () => ({ body: { name: "CI", scopes: ["ENV_READ"] } }) },
  revokeToken: onToken,
  getTokenValue: onToken,
  getCurrentUser: NOTHING,
  getLoginOptions: NOTHING,
  requestPasswordReset: { call: () => ({ body: { email: "dev@example.test" } }) },
  receiveRepohostEvent: {
    call: () => {
      const body = pullRequestBody({ repository: "shop/shop-api" });
      return { body, headers: signedHeaders(JSON.stringify(body), { event: "pull_request" }) };
    },
  },
  receivePipelineEvent: {
    call: () => ({
      body: pipelineBody({ project: "shop/shop-api" }),
      headers: { "x-pipeline-token": PIPELINE_TOKEN },
    }),
  },
  receiveGenericEvent: { call: () => ({ body: { event: "deployment", message: "it is done" } }) },
  receiveEnvironmentEvent: { call: () => ({ body: { event_type: "ready", environment_name: "x" } }) },
  testPipelineWebhook: NOTHING,
  listDeliveries: listing(onDelivery),
  getDelivery: onDelivery,
  redeliverWebhook: onDelivery,
  // A Repository in a body has no path.
  simulateWebhook: { call: simulated.call, strangerStatus: 404 },
  approveCommit: onPullRequest((id) => ({ params: { id, number: "42" }, body: { commit: HEAD_COMMIT } })),
  getHook: ofRepository,
  repairHook: ofRepository,
  getHealth: NOTHING,
  getReadiness: NOTHING,
  getStatus: NOTHING,
};

/** The fixture of an operation; fails without one. */
export function fixtureOf(operationId: string): RouteFixture {
  const fixture = FIXTURES[operationId];
  if (fixture === undefined) throw new Error(`test/support/http/route-calls.ts has no fixture for ${operationId}`);
  return fixture;
}

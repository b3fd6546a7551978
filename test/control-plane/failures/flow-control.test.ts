import { readFileSync } from "node:fs";
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { configMapKind, wireKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import type { KubeResponse } from "../../../operator/kit/client/request.ts";
import { leases } from "../../../operator/kit/leader/leader-election.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

/** Longer than an unrenewed lease is valid (15 s). */
const STORM_MS = 17_000;
/** Concurrent requests of the platform, repeated until `STORM` of them were refused, and then every second. */
const GUST = 20;
const STORM = 100;
const CONFIG_MAPS = "/api/v1/namespaces/ephemeral-system/configmaps";
const lease = { name: "platform", namespace: "ephemeral-system" };
const flowKind = (kind: string, plural: string) =>
  wireKind({ group: "flowcontrol.apiserver.k8s.io", version: "v1", kind, plural, namespaced: false });
const flowSchemas = flowKind("FlowSchema", "flowschemas");
const priorityLevels = flowKind("PriorityLevelConfiguration", "prioritylevelconfigurations");

const plane = await controlPlane();
const raw = callsAs(plane, { token: plane.platform.token });

describe("the platform's requests in the API server's flow control", () => {
  let world: World;
  let admin: KubeClient;
  let platform: KubeClient;
  let response: KubeResponse;

  beforeAll(async () => {
    world = await createWorld();
    admin = world.admin;
    const kubeConfig = kubeConfigOf(plane, plane.platform.token);
    platform = createKubeClient({
      kubeConfig,
      async onRequest(_request, next) {
        response = await next();
        return response;
      },
    });
  }, 180_000);

  afterAll(async () => {
    await platform.close();
    await world.stop();
  }, 60_000);

  /** The schema and the level of the platform's last request. */
  async function served(): Promise<[schema: string | undefined, level: string | undefined]> {
    const nameOf = async (type: typeof flowSchemas, header: string) => {
      const { items } = await admin.list(type);
      return items.find(({ metadata }) => metadata.uid === response.headers[header])?.metadata.name;
    };
    return [
      await nameOf(flowSchemas, "x-kubernetes-pf-flowschema-uid"),
      await nameOf(priorityLevels, "x-kubernetes-pf-prioritylevel-uid"),
    ];
  }

  test("go into the levels that the chart says: the lease, the writes, and the rest", async () => {
    await platform.find(leases, lease);
    expect(await served()).toEqual(["ephemeral-platform-lease", "leader-election"]);
    const draft = { metadata: { name: "repository-reload", namespace: "ephemeral-system" }, data: {} };
    await platform.create(configMapKind, draft, { dryRun: true });
    expect(await served()).toEqual(["ephemeral-platform-writes", "ephemeral-platform"]);
    await platform.list(configMapKind, { namespace: "ephemeral-system" });
    expect(await served()).toEqual(["service-accounts", "workload-low"]);
  });

  describe("with no room for anything but the lease", () => {
    let replica: PlatformProcess;

    beforeAll(async () => {
      replica = await platformProcess(world.identity, { ...testSettings, leaderElection: true });
      await replica.start();
      await until(() => replica.output.includes('"message":"leading"'), { what: "the leader", deadlineMs: 30_000 });
    }, 90_000);

    let release: (() => Promise<void>) | undefined;

    afterAll(async () => {
      // Other test files use the same API server.
      await release?.();
      await replica.stop();
    });

    test("a storm of 429 does not cost the lease, and what waited is done once it is over", async () => {
      release = await jail();
      const before = await admin.find(leases, lease);
      const { metadata } = await world.create("stormy");
      let refused = 0;
      const blow = async () => {
        refused += await refusedAmong(GUST);
      };
      await until(() => blow().then(() => refused > STORM), { what: "the storm", deadlineMs: 60_000 });
      const renewed = (one: typeof before) => Date.parse(one?.spec?.renewTime ?? "");
      const isOver = async () => {
        await blow();
        return renewed(await admin.find(leases, lease)) - renewed(before) > STORM_MS;
      };
      await until(isOver, { what: "renewals for longer than a lease", deadlineMs: STORM_MS + 15_000, everyMs: 1_000 });
      const after = await admin.find(leases, lease);
      await release();
      release = undefined;
      expect(after?.spec).toMatchObject({
        holderIdentity: before?.spec?.holderIdentity,
        leaseTransitions: before?.spec?.leaseTransitions,
      });
      expect(replica.output).not.toContain("lost");
      await until(async () => (await world.find(metadata.name))?.status !== undefined, {
        what: "the environment to be worked on",
        deadlineMs: 60_000,
      });
    }, 180_000);
  });

  /** Takes all seats from the platform's requests, except for the lease; the returned function gives them back. */
  async function jail(): Promise<() => Promise<void>> {
    const name = "jail";
    await admin.create(priorityLevels, {
      metadata: { name },
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: 0,
          lendablePercent: 0,
          borrowingLimitPercent: 0,
          limitResponse: { type: "Reject" },
        },
      },
    });
    const account = { name: "platform", namespace: "ephemeral-system" };
    const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"], clusterScope: true, namespaces: ["*"] };
    await admin.create(flowSchemas, {
      metadata: { name },
      spec: {
        // After the lease's, before all others.
        matchingPrecedence: 900,
        priorityLevelConfiguration: { name },
        rules: [{ subjects: [{ kind: "ServiceAccount", serviceAccount: account }], resourceRules: [everything] }],
      },
    });
    const listed = () => platform.list(configMapKind, { namespace: account.namespace });
    // The API server takes some time to read a new schema.
    const isInForce = async () => {
      await listed().catch(() => undefined);
      return (await served())[0] === name;
    };
    await until(isInForce, { what: "the jail to be in force", deadlineMs: 30_000 });
    // A level without seats still serves one request at a time, so that one is kept busy.
    const giveSeatBack = takeSeat();
    const release = async () => {
      giveSeatBack();
      await admin.delete(flowSchemas, { name });
      await admin.delete(priorityLevels, { name });
    };
    const isRefused = () =>
      listed().then(
        () => false,
        () => true,
      );
    try {
      await until(isRefused, { what: "the jail to be full", deadlineMs: 30_000 });
    } catch (error) {
      await release();
      throw error;
    }
    return release;
  }

  /**
   * Takes the seat with a request of the platform whose body never comes: the API server waits for it, up to a minute.
   * Repeats that when the request ends: it is refused or cut off while another one has the seat. The returned function gives
   * the seat back.
   */
  function takeSeat(): () => void {
    const url = new URL(`${CONFIG_MAPS}?dryRun=All`, plane.url);
    const authorization = `Bearer ${plane.platform.token}`;
    const headers = { authorization, "content-type": "application/json", "content-length": 2 };
    const ca = readFileSync(plane.caFile);
    let isTaking = true;
    const take = () => {
      const seat = request(url, { method: "POST", headers, ca, agent: false });
      seat.on("response", () => seat.destroy());
      seat.on("error", () => undefined);
      seat.on("close", () => {
        if (isTaking) current = take();
      });
      seat.flushHeaders();
      return seat;
    };
    let current = take();
    return () => {
      isTaking = false;
      current.destroy();
    };
  }

  /** Sends concurrent requests of the platform, each once; answers the number refused for lack of a seat. */
  async function refusedAmong(requests: number): Promise<number> {
    const replies = await Promise.all(Array.from({ length: requests }, () => raw.get(CONFIG_MAPS)));
    return replies.filter(({ status }) => status === 429).length;
  }
});

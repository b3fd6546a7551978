import { beforeEach, describe, expect, test } from "@jest/globals";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { EnvironmentReport } from "../../../api/environments/schemas.ts";
import { ChangedEnvironment } from "../../../api/environments/streams/routes.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { until } from "../../support/fixtures/until.ts";
import type { ApiService } from "../../support/http/api-service.ts";
import type { EventReader } from "../../support/plane/event-reader.ts";
import { streamFollowers, untilCame } from "./stream-followers.ts";

const SHOP = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } };
const BILLING = { ...SHOP, access: { groups: ["billing"] } };

const followers = streamFollowers({
  prepare: ({ environments }) => environments.holdFollowers(),
  count: ({ environments }) => environments.followers,
});
let service: ApiService;
beforeEach(() => {
  service = followers.service;
});
const follow = (path: string) => followers.follow(`/api/v2/${path}`);

const expectValid = (schema: TSchema, { events }: EventReader) =>
  expect(events.filter(({ data }) => !Value.Check(schema, data))).toEqual([]);
const dataOf = <T>({ events }: EventReader) => events.map(({ data }) => data as T);
async function isStored(environment: EphemeralEnvironment, status: object): Promise<EphemeralEnvironment> {
  service.environments.put({ ...environment, status: { ...environment.status, ...status } });
  return (await service.environments.find(environment.metadata.uid)) as EphemeralEnvironment;
}

describe("a caller who follows an environment", () => {
  test("gets it as it is, again when it has changed, and the end when it is gone", async () => {
    const made = await service.environments.create("shop", SHOP);
    const reader = await follow("environments/shop/stream");
    await untilCame(reader, 1);
    const ready = await isStored(made, { phase: "ready" });
    await untilCame(reader, 2);
    await service.environments.create("other", SHOP);
    await service.environments.remove(ready);
    await untilCame(reader, 3);
    expect(dataOf<{ status: string }>(reader).map(({ status }) => status)).toEqual([
      "creating",
      "ready",
      "terminating",
    ]);
    service.environments.finishRemoval("shop");
    await until(() => reader.isOver, { what: "the end of the stream" });
    expect(reader.events).toHaveLength(3);
    expectValid(EnvironmentReport, reader);
  });

  test("gets the end when the environment is no longer shared with the caller", async () => {
    const made = await service.environments.create("shop", SHOP);
    const reader = await follow("environments/shop/stream");
    await untilCame(reader, 1);
    service.environments.put({ ...made, spec: { ...made.spec, access: { groups: ["billing"] } } });
    await until(() => reader.isOver, { what: "the end of the stream" });
    expect(reader.events).toHaveLength(1);
  });

  test("gets the end at once of one that goes while the stream is opened", async () => {
    await service.environments.create("shop", SHOP);
    const { find } = service.environments;
    service.environments.find = async (idOrName) => {
      const found = await find(idOrName);
      service.environments.finishRemoval("shop");
      return found;
    };
    const reader = await follow("environments/shop/stream");
    await until(() => reader.isOver, { what: "the end of the stream" });
    expect(reader.events).toEqual([]);
  });
});

describe("a caller who follows all environments", () => {
  test("receives visible environments, also when one becomes invisible, and no others", async () => {
    const before = await service.environments.create("before", SHOP);
    const reader = await follow("watch/environments");
    await untilCame(reader, 1);
    await service.environments.create("hidden", BILLING);
    await isStored(before, { phase: "ready", conditions: [condition("True"), condition("False", "SecretsReady")] });
    await untilCame(reader, 2);
    await service.environments.create("made", SHOP);
    await untilCame(reader, 3);
    const now = (await service.environments.find("before")) as EphemeralEnvironment;
    service.environments.put({ ...now, spec: { ...now.spec, access: { groups: ["billing"] } } });
    await untilCame(reader, 4);
    expect(dataOf(reader)).toEqual([
      { type: "opened" },
      {
        type: "changed",
        id: before.metadata.uid,
        name: "before",
        environment: expect.objectContaining({
          status: "ready",
          protected: false,
          suspended: false,
          sleep: null,
          progress: { done: 1, total: 2, waiting_for: "SecretsReady" },
          repositories: { backend: { repo: "shop-api", branch: "main", commit: "" } },
        }),
      },
      expect.objectContaining({ type: "changed", name: "made" }),
      { type: "removed", id: before.metadata.uid, name: "before" },
    ]);
    expectValid(ChangedEnvironment, reader);
  });

  test("receives nothing of an invisible environment, and a shared one from then on", async () => {
    const [unseen, shared] = [
      await service.environments.create("unseen", BILLING),
      await service.environments.create("shared", BILLING),
    ];
    const reader = await follow("watch/environments");
    await untilCame(reader, 1);
    await service.environments.remove(unseen);
    service.environments.finishRemoval("unseen");
    service.environments.put({ ...shared, spec: { ...shared.spec, access: { groups: ["shop"] } } });
    await untilCame(reader, 2);
    service.environments.finishRemoval("shared");
    await untilCame(reader, 3);
    expect(dataOf(reader)).toMatchObject([
      { type: "opened" },
      { type: "changed", name: "shared" },
      { type: "removed", name: "shared" },
    ]);
  });

  test("a list has the same of each", async () => {
    await service.environments.create("shop", SHOP);
    const { body } = await service.http
      .get("/api/v2/environments")
      .set({ authorization: await service.bearer("viewer") });
    expect(body.data.environments[0]).toMatchObject({
      protected: false,
      progress: { done: 0, total: 0, waiting_for: null },
    });
  });
});

const condition = (status: "True" | "False", type = "NamespaceReady") => ({
  type,
  status,
  reason: "Test",
  message: "",
  lastTransitionTime: "2026-06-01T12:00:00Z",
});

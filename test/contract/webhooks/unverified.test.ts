import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
const start = async (options: ServiceOptions) => {
  await service.stop();
  service = await startApiService(options);
};
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

const GENERIC = "/api/webhooks/generic";
const EVENT = "/api/webhooks/environment/event";

async function post(path: string, text: string) {
  const reply = await service.http.post(path).set("content-type", "application/json").send(text);
  expectPromised(reply, "post", path);
  return reply;
}
const make = (name: string) =>
  service.environments.create(name, {
    backend: { repository: "shop-api", branch: "main" },
    access: { groups: ["shop"] },
  });
const world = () => JSON.stringify(service.environments.list());

describe("a generic webhook", () => {
  test.each([
    ["an object", '{"event":"deployed","message":"it is done","data":{"constructor":1}}', "deployed", "it is done"],
    ["an object without an event", '{"event_type":"deployed"}', "deployed", undefined],
    ["a list", "[1,2]", "generic", undefined],
    ["a text", '"hello"', "generic", undefined],
    ["a number", "17", "generic", undefined],
    ["null", "null", "generic", undefined],
    ["fields of other types", '{"event":1,"message":["x"]}', "generic", undefined],
    ["what a terminal would run", '{"message":"\\u001b[2J\\u202ex"}', "generic", "[2J x"],
  ])("takes %s, records it as unverified, and does nothing", async (_case, text, eventName, message) => {
    const reply = await post(GENERIC, text);
    expect(reply.body).toEqual({ status: "received", message: "Event received", webhook_id: expect.any(String) });
    const [stored] = service.webhookDeliveries.list();
    expect(stored?.spec).toMatchObject({ source: "generic", verified: false, eventName, event: { type: "other" } });
    expect(stored?.spec.deliveryId).toBe(reply.body.webhook_id);
    expect(stored?.spec.message).toBe(message);
    expect(stored?.status).toMatchObject({ phase: "ignored", reason: "Unverified" });
  });

  test.each([
    ["nothing", "", 400],
    ["broken JSON", "{", 400],
    ["too deep JSON", `${"[".repeat(33)}${"]".repeat(33)}`, 400],
    ["more than 1 MiB", `"${"x".repeat(1_048_576)}"`, 413],
  ])("is refused with %s", async (_case, text, status) => {
    expectProblem(await post(GENERIC, text), status);
    expect(service.webhookDeliveries.list()).toEqual([]);
  });

  // Abuse case 76.
  test("is answered and not stored beyond five a second, and refused beyond the limit of the address", async () => {
    await service.stop();
    await start({ limits: { webhooksPerMinute: 20 } });
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) => post(GENERIC, `{"message":"${index}"}`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(10);
    expect(service.webhookDeliveries.list()).toHaveLength(5);
    service.clock.advance(60_000);
    await post(EVENT, "{}");
    expect(service.webhookDeliveries.list()).toHaveLength(6);
  });

  test("is answered while nothing can be stored", async () => {
    service.webhookDeliveries.setReachable(false);
    expect((await post(GENERIC, "{}")).status).toBe(200);
  });
});

describe("the channel for unverified events", () => {
  const chat = {
    unverifiedChannel: "strangers",
    webhooks: [{ channel: "strangers", urlRef: { name: "chat-url", key: "latest" } }],
  };
  const reported = () => service.notifications.list().map(({ spec }) => spec);

  test("receives an event, whatever it names, and the answer says so", async () => {
    await start({ settings: { notifications: { chat } } });
    const reply = await post(EVENT, '{"event_type":"ready","environment_name":"none"}');
    expect(reply.body).toMatchObject({ notifications_sent: ["chat"] });
    expect(reported()).toMatchObject([
      {
        channel: "chat",
        to: "strangers",
        event: "unverified",
        facts: { status: "ready", message: "environment_name=none" },
      },
    ]);
    expect(reported()[0]?.environment).toBeUndefined();
  });

  test("receives ten events in a minute at most", async () => {
    await start({ settings: { notifications: { chat } } });
    for (let second = 0; second < 20; second += 1) {
      await post(GENERIC, '{"message":"again"}');
      service.clock.advance(1_000);
    }
    expect(service.webhookDeliveries.list()).toHaveLength(20);
    expect(reported()).toHaveLength(10);
    service.clock.advance(60_000);
    await post(GENERIC, '{"message":"later"}');
    expect(reported()).toHaveLength(11);
  });

  test("receives nothing where there is none", async () => {
    await post(GENERIC, '{"message":"hello"}');
    expect(reported()).toEqual([]);
  });
});

describe("an event of an environment", () => {
  // Abuse case 77.
  test.each(["created", "ready", "failed", "updated", "deleted", "anything"])(
    "of type %s changes none that lives",
    async (event_type) => {
      const environment = await make("live");
      const before = world();
      const body = { event_type, environment_id: environment.metadata.uid, environment_name: "live", status: "failed" };
      expect((await post(EVENT, JSON.stringify(body))).body).toEqual({
        status: "received",
        message: "Event received",
        notifications_sent: [],
      });
      expect(world()).toBe(before);
      const [stored] = service.webhookDeliveries.list();
      expect(stored?.spec).toMatchObject({ source: "environment", verified: false, eventName: event_type });
    },
  );

  // Abuse case 79.
  test("is answered alike for one that exists and one that does not, and none is looked up", async () => {
    await make("live");
    const looked: string[] = [];
    const { find } = service.environments;
    service.environments.find = (name) => {
      looked.push(name);
      return find(name);
    };
    const [known, unknown] = [
      await post(EVENT, '{"environment_name":"live"}'),
      await post(EVENT, '{"environment_name":"none"}'),
    ];
    expect(known.body).toEqual(unknown.body);
    expect(looked).toEqual([]);
  });
});

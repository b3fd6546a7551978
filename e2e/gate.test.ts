import { afterAll, expect, jest, test } from "@jest/globals";
import { type Ask, curl } from "./support/curl.ts";
import { Environments } from "./support/environments.ts";
import { list, waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";
import { createBackend, fallAsleep } from "./support/sleep.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const sleepOf = async (id: string) =>
  (await platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } })).sleep;

test.concurrent("the first requests to a sleeping environment wake it, and the application sees each of them once", async () => {
  const made = await createBackend(environments.name("gate"), { provision_database: true });
  expect(JSON.parse((await curl(made.host, { path: "/database" })).body)).toEqual({ visits: 1 });
  await fallAsleep(made);
  const volumes = await list("persistentvolumeclaims", `--namespace=env-${made.name}`);
  expect(volumes).toHaveLength(1);

  const replies = await Promise.all(Array.from({ length: 100 }, () => curl(made.host, { path: "/database" })));
  expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
  const counts = replies.map(({ body }) => (JSON.parse(body) as { readonly visits: number }).visits);
  expect(Math.max(...counts)).toBe(101);
  expect(JSON.parse((await curl(made.host, { path: "/database" })).body)).toEqual({ visits: 102 });
  await waitFor(["--for=jsonpath={.status.sleep.state}=awake", `eenv/${made.name}`]);
  expect(await sleepOf(made.id)).toMatchObject({ state: "awake", cause: "request" });
});

test.concurrent("what no person waits for wakes nothing, and neither does anything what a person suspended", async () => {
  const made = await createBackend(environments.name("monitored"));
  await fallAsleep(made);
  const quiet: readonly Ask[] = [
    { headers: { "user-agent": "Mozilla/5.0 (compatible; UptimeRobot/2.0)" } },
    { headers: { "user-agent": "Googlebot/2.1" } },
    { method: "HEAD" },
    { path: "/robots.txt" },
    { path: "/favicon.ico" },
  ];
  for (const one of quiet) {
    const { status, headers } = await curl(made.host, one);
    expect({ status, retry: headers["retry-after"] }).toEqual({ status: 503, retry: "60" });
  }
  expect(await sleepOf(made.id)).toMatchObject({ state: "asleep" });
  expect(await list("pods", `--namespace=env-${made.name}`)).toEqual([]);

  const path = { environment_id: made.id };
  await platform.call("PATCH /api/v2/environments/{environment_id}", { path, body: { suspended: true } });
  await waitFor(["--for=condition=Suspended", `eenv/${made.name}`]);
  const { status, headers, body } = await curl(made.host);
  expect({ status, retry: headers["retry-after"] }).toEqual({ status: 503, retry: undefined });
  expect(body).toContain(`${made.name} is suspended`);
  expect(await list("pods", `--namespace=env-${made.name}`)).toEqual([]);
});

test.concurrent("a websocket gets 503 with Retry-After, and wakes the environment", async () => {
  const made = await createBackend(environments.name("websocket"));
  await fallAsleep(made);
  const { status, headers } = await curl(made.host, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "YQ==",
    },
  });
  expect({ status, retry: headers["retry-after"] }).toEqual({ status: 503, retry: expect.stringMatching(/^\d+$/) });
  await waitFor(["--for=jsonpath={.status.sleep.state}=awake", `eenv/${made.name}`]);
});

test.concurrent("hosts of nothing are answered alike", async () => {
  const replies = await Promise.all(["e2e-nothing", "e2e-nothing--api"].map((name) => curl(`${name}.env.localhost`)));
  for (const { status, body } of replies) {
    expect({ status, body }).toEqual({
      status: 404,
      body: "Nothing is here. No environment answers at this address.\n",
    });
  }
});

import { readFileSync } from "node:fs";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { type Created, creation, Environments, untilReady } from "./support/environments.ts";
import { list, waitFor } from "./support/kubectl.ts";
import { platform } from "./support/platform.ts";
import { site, TEST_DEADLINE_MS } from "./support/site.ts";
import { FAR_HOURS } from "./support/sleep.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request through the ingress, as curl sends it: the answer may take as long as the environment needs to wake. */
function curl(hostname: string, { method = "GET", path = "/", headers = {} }: Ask = {}): Promise<Reply> {
  const port = 18443;
  const host = `${hostname}:${port}`;
  const signal = AbortSignal.timeout(90_000);
  const sent = { "user-agent": "curl/8.5.0", accept: "*/*", ...headers, host };
  const options = { host: "127.0.0.1", port, method, path, servername: hostname, headers: sent, signal };
  return new Promise((resolve, reject) => {
    const call = request({ ...options, ca: readFileSync(site.caFile), agent: false }, (reply) => {
      const { statusCode: status = 0, headers: answered } = reply;
      text(reply).then((body) => resolve({ status, headers: answered, body }), reject);
    });
    call.once("error", reject).end();
  });
}

const sleepOf = async (id: string) =>
  (await platform.call("GET /api/v2/environments/{environment_id}", { path: { environment_id: id } })).sleep;

/** Creates an environment without a frontend, and answers its id and its host. */
async function createAwake(purpose: string, more: object = {}) {
  const name = environments.name(purpose);
  const { frontend_repo: _, frontend_branch: __, ...backendOnly } = creation(name);
  const { status, body } = await ask<Created>("POST", "/environments", { body: { ...backendOnly, ...more } });
  expect(status).toBe(200);
  await untilReady(name);
  return { name, id: body.environment.id, host: `${name}--api.env.localhost` };
}

/** Lets it sleep outside its hours, and waits until no pod and no Ingress of it is left. */
async function fallAsleep({ name, id }: { readonly name: string; readonly id: string }): Promise<void> {
  await platform.call("PATCH /api/v2/environments/{environment_id}", {
    path: { environment_id: id },
    body: { sleep: FAR_HOURS },
  });
  await waitFor(["--for=jsonpath={.status.sleep.state}=asleep", `eenv/${name}`]);
  await waitUntil({
    what: `the end of the pods and Ingresses of '${name}', which sleeps`,
    check: async () => (await list("pods,ingresses", `--namespace=env-${name}`)).length === 0,
    deadlineMs: 60_000,
  });
}

test.concurrent("the first requests to a sleeping environment wake it, and the application sees each of them once", async () => {
  const made = await createAwake("gate", { provision_database: true });
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
  const made = await createAwake("monitored");
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

test.concurrent("hosts of nothing are answered alike", async () => {
  const replies = await Promise.all(["e2e-nothing", "e2e-nothing--api"].map((name) => curl(`${name}.env.localhost`)));
  for (const { status, body } of replies) {
    expect({ status, body }).toEqual({
      status: 404,
      body: "Nothing is here. No environment answers at this address.\n",
    });
  }
});

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { tokenTraits } from "../../../crds/api-token.ts";
import { apiTokenType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

/** The unit test, with its own clock, checks the single second; here the machine may stall. */
const SOON_MS = 10_000;
const DEVELOPER = { sub: "dev", email: "dev@example.test", name: "Dev", groups: ["developers"] };

let world: World;
let issuer: TokenIssuer;
let replicas: readonly [PlatformProcess, PlatformProcess];

beforeAll(async () => {
  [world, issuer] = await Promise.all([createWorld(), startTokenIssuer()]);
  const api = {
    issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { developer: ["developers"] } }],
    limits: { authenticatedPerMinute: 100_000, unauthenticatedPerMinute: 100_000 },
  };
  const replica = () => platformProcess(world.identity, { ...testSettings, api });
  replicas = await Promise.all([replica(), replica()]);
  await Promise.all(replicas.map((one) => one.start()));
  for (const one of replicas) {
    const isReady = async () => (await fetch(`${one.url}/api/ready`)).ok;
    await until(isReady, { what: "a replica being ready", deadlineMs: 30_000 });
  }
}, 120_000);
afterAll(async () => {
  await Promise.all(replicas.map((one) => one.stop()));
  await issuer.stop();
  await world.stop();
}, 60_000);

async function call(one: PlatformProcess, [method, path]: readonly [string, string], bearer: string, body?: object) {
  const reply = await fetch(`${one.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, data: (JSON.parse(text) as { data?: { id: string; token: string } }).data };
}

const makeToken = async (one: PlatformProcess, scopes: readonly string[]) => {
  const bearer = await issuer.sign(DEVELOPER);
  const { status, data } = await call(one, ["POST", "/api/tokens"], bearer, { name: "CI", scopes });
  expect(status).toBe(201);
  return data as { id: string; token: string };
};
const readsWith = async (one: PlatformProcess, token: string) =>
  (await call(one, ["GET", "/api/environments"], token)).status;

describe("an API token with two replicas", () => {
  test("made at one creates an environment at the other, and revoked at one is refused by both within a second", async () => {
    const [one, other] = replicas;
    const { id, token } = await makeToken(one, ["ENV_CREATE"]);
    const requested = { environment_name: "by-token", backend_repo: "test-backend", backend_branch: "main" };
    const created = await call(other, ["POST", "/api/environments"], token, { ...requested, backend_commit: COMMIT });
    expect(created.status).toBe(200);
    expect((await world.find("by-token"))?.spec.owner).toEqual({
      subject: `${issuer.issuer}#dev`,
      email: "dev@example.test",
      name: "Dev",
    });

    for (const replica of replicas) expect(await readsWith(replica, token)).toBe(200);
    const bearer = await issuer.sign(DEVELOPER);
    expect((await call(one, ["DELETE", `/api/tokens/${id}`], bearer)).status).toBe(200);
    expect(await readsWith(one, token)).toBe(401);
    await until(async () => (await readsWith(other, token)) === 401, {
      what: "the other replica refusing the token",
      deadlineMs: SOON_MS,
    });
    expect((await call(other, ["GET", `/api/tokens/${id}/value`], bearer)).status).toBe(404);
  }, 60_000);

  test("is good on every replica the moment that it is answered", async () => {
    for (let round = 0; round < 10; round += 1) {
      const [maker, user] = round % 2 === 0 ? replicas : [replicas[1], replicas[0]];
      const { token } = await makeToken(maker, ["ENV_READ"]);
      expect(await readsWith(user, token)).toBe(200);
    }
  }, 60_000);

  test("loses at every replica what its owner's ID token says at one", async () => {
    const [one, other] = replicas;
    const { token } = await makeToken(one, ["ENV_READ"]);
    expect(await readsWith(other, token)).toBe(200);
    const later = Math.floor(Date.now() / 1000) + 1;
    await until(() => Date.now() / 1000 >= later, { what: "the next second" });
    await call(one, ["GET", "/api/auth/user"], await issuer.sign({ ...DEVELOPER, groups: [] }));
    await until(async () => (await readsWith(other, token)) === 403, { what: "the right's end", deadlineMs: SOON_MS });
  }, 60_000);

  test("is written nowhere but into the secret manager, and from there it goes with its revocation", async () => {
    const [one] = replicas;
    const { id, token } = await makeToken(one, ["ENV_READ"]);
    await readsWith(one, token);
    const name = { name: id, namespace: "ephemeral-system" };
    const resource = await until(async () => {
      const found = await world.admin.find(apiTokenType, name);
      return found?.status?.lastUsedAt === undefined ? undefined : found;
    });
    expect(resource.spec.tokenHash).toBe(tokenTraits(token).tokenHash);
    for (const replica of replicas) expect(replica.output).not.toContain(token.slice("svc_".length));
    expect(JSON.stringify(resource)).not.toContain(token.slice("svc_".length));

    const values = async () => (await world.admin.list(secretKind, { namespace: "ephemeral-secrets" })).items;
    const kept = () => values().then((all) => all.filter((one) => JSON.stringify(one).includes(resource.metadata.uid)));
    expect((await kept()).map(({ data }) => Object.values(data as object))).toEqual([[btoa(token)]]);
    expect((await call(one, ["DELETE", `/api/tokens/${id}`], await issuer.sign(DEVELOPER))).status).toBe(200);
    expect(await kept()).toEqual([]);
  }, 60_000);

  test("abuse case 116: leaves no value behind when it is deleted past the REST interface", async () => {
    const [one] = replicas;
    const [gone, kept] = [await makeToken(one, ["ENV_READ"]), await makeToken(one, ["ENV_READ"])];
    const holds = async ({ token }: { token: string }) => {
      const { items } = await world.admin.list(secretKind, { namespace: "ephemeral-secrets" });
      return items.some(({ data }) => Object.values(data as object).includes(btoa(token)));
    };
    expect(await holds(gone)).toBe(true);
    await world.admin.delete(apiTokenType, { name: gone.id, namespace: "ephemeral-system" });
    await until(async () => !(await holds(gone)), { what: "the value being gone", deadlineMs: 30_000 });
    expect(await holds(kept)).toBe(true);
  }, 60_000);

  test("reads on while the API server is away, changes nothing, and is as before when it is back", async () => {
    const [one, other] = replicas;
    const { token } = await makeToken(one, ["ENV_CREATE"]);
    expect(await readsWith(one, token)).toBe(200);
    await world.plane.kill("kube-apiserver");
    try {
      for (let round = 0; round < 3; round += 1) {
        expect(await readsWith(one, token)).toBe(200);
        const requested = { environment_name: "never", backend_repo: "test-backend", backend_branch: "main" };
        expect((await call(one, ["POST", "/api/environments"], token, requested)).status).toBe(503);
      }
      // The other replica has never learnt from the API server that the token is valid.
      expect(await readsWith(other, token)).toBe(503);
    } finally {
      await world.plane.restart("kube-apiserver");
    }
    for (const replica of replicas) {
      const isBack = async () => (await call(replica, ["DELETE", "/api/environments/never"], token)).status === 404;
      await until(isBack, { what: "changes again", deadlineMs: 60_000, everyMs: 50 });
    }
  }, 120_000);
});

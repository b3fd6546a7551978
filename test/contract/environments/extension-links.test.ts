import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expiresAt } from "../../../crds/environment/lifetime.ts";
import { signExtension } from "../../../crds/notifications/extension-token.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { extensionKeyOf } from "../../../operator/adapters/platform-keys/platform-keys.ts";
import { type ApiService, PEOPLE, startApiService } from "../../support/http/api-service.ts";
import { unique } from "../../support/plane/people.ts";

let service: ApiService;
beforeAll(async () => {
  service = await startApiService();
});
afterAll(() => service.stop());

const ownerOf = (person: keyof typeof PEOPLE, issuer = service.issuer.issuer) => {
  const { sub, email, name } = PEOPLE[person];
  return { subject: `${issuer}#${sub}`, email, name };
};

const make = (more: Partial<EnvironmentSpec> = {}) =>
  service.environments.create(unique("linked-"), {
    ttlHours: 24,
    backend: { repository: "shop-api", branch: "main" },
    owner: ownerOf("developer"),
    access: { groups: ["shop"] },
    ...more,
  });

async function tokenOf(environment: EphemeralEnvironment, more: object = {}, key?: Sensitive): Promise<string> {
  const expiry = expiresAt(environment);
  const grant = { uid: environment.metadata.uid, expiresAt: expiry, addedHours: 24, endsAt: expiry, ...more };
  return signExtension(grant, key ?? (await extensionKeyOf(service.secretManager)()));
}

const pathOf = (token: string) => `/api/v2/extensions/${token}`;
const open = (token: string) => service.http.get(pathOf(token));
const use = (token: string) => service.http.post(pathOf(token));
const ttlOf = async ({ metadata }: EphemeralEnvironment) =>
  (await service.environments.find(metadata.uid))?.spec.ttlHours;

describe("the link of a warning", () => {
  test("shows what it would do, as often as it is opened, and changes nothing", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    for (const _ of [1, 2, 3]) {
      const { status, body } = await open(token);
      expect(status).toBe(200);
      expect(body).toEqual({
        environment_name: environment.metadata.name,
        ttl_hours: 24,
        extended: false,
        expires_at: expiresAt(environment).toISOString(),
        extended_until: new Date(expiresAt(environment).getTime() + 24 * HOUR_MS).toISOString(),
      });
    }
    await service.http.head(pathOf(token)).expect(200);
    expect(await ttlOf(environment)).toBe(24);
  });

  test("is a page for browsers, with nothing to load and nothing to keep", async () => {
    const environment = await make();
    const reply = await open(await tokenOf(environment)).set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    expect(reply.headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
    });
    expect(reply.text).toContain('<form method="post">');
    expect(reply.text).toContain(environment.metadata.name);
    expect(reply.text).not.toMatch(/<script|<style|<img|https?:/);
  });

  test("extends once, and the second use is refused", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    const { status, body } = await use(token);
    expect({ status, body }).toMatchObject({ status: 200, body: { extended: true, ttl_hours: 48 } });
    expect(await ttlOf(environment)).toBe(48);
    expect((await use(token)).status).toBe(409);
    expect((await open(token)).status).toBe(409);
    expect(await ttlOf(environment)).toBe(48);
  });

  test("extends once when it is used twice at the same moment", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    const replies = await Promise.all([use(token), use(token), use(token)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await ttlOf(environment)).toBe(48);
  });

  test("takes the form of a browser", async () => {
    const environment = await make();
    const reply = await use(await tokenOf(environment))
      .set("Accept", "text/html")
      .set("Origin", "null")
      .type("form")
      .send("");
    expect(reply.status).toBe(200);
    expect(reply.text).toContain("is extended");
    expect(await ttlOf(environment)).toBe(48);
  });

  test("ends at the longest TTL", async () => {
    const environment = await make({ ttlHours: 160 });
    expect((await use(await tokenOf(environment))).body).toMatchObject({ ttl_hours: 168 });
    const longest = await make({ ttlHours: 168 });
    expect((await use(await tokenOf(longest))).status).toBe(409);
  });

  test("is of no use after another change of the TTL", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    await service.environments.extend(environment, { ttlHours: 30 });
    expect((await use(token)).status).toBe(409);
    expect(await ttlOf(environment)).toBe(30);
  });

  test("extends nothing that is being deleted", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    const metadata = { ...environment.metadata, deletionTimestamp: service.clock.now().toISOString() };
    service.environments.put({ ...environment, metadata });
    const { status, body } = await use(token);
    expect({ status, detail: body.detail }).toEqual({ status: 409, detail: "The environment is being deleted" });
    expect((await open(token)).status).toBe(409);
    expect(await ttlOf(environment)).toBe(24);
  });

  test.each<[string, (environment: EphemeralEnvironment) => Promise<string>]>([
    ["of another key", (one) => tokenOf(one, {}, new Sensitive("another"))],
    ["of an environment that is gone", (one) => tokenOf(one, { uid: "ffffffff-1111-4222-8333-444455556666" })],
    ["that has ended", (one) => tokenOf(one, { endsAt: service.clock.now() })],
    ["whose payload was changed", async (one) => `x${await tokenOf(one)}`],
  ])("%s is not found", async (_title, sign) => {
    const environment = await make();
    const token = await sign(environment);
    for (const reply of [await open(token), await use(token)]) {
      expect(reply.status).toBe(404);
      expect(reply.body).toMatchObject({ detail: "The link is not valid, or no longer", status_code: 404 });
    }
    expect(await ttlOf(environment)).toBe(24);
  });

  test("that is no token at all is malformed", async () => {
    expect((await open("nonsense")).status).toBe(400);
  });

  test("has no path in version 1", async () => {
    expect((await service.http.get(`/api/extensions/${await tokenOf(await make())}`)).status).toBe(404);
  });

  test("says nothing while the key can't be had", async () => {
    const away = await startApiService();
    away.secretManager.setReachable(false);
    expect((await away.http.post(pathOf(await tokenOf(await make())))).status).toBe(503);
    await away.stop();
  });
});

describe("the rights of the owner", () => {
  const daysAgo = (days: number) => new Date(service.clock.now().getTime() - days * 24 * HOUR_MS).toISOString();
  const stored = (person: "colleague" | "viewer" | "outsider" | "admin", groups: string[], days: number) =>
    service.makeToken(person, { assertedClaims: { groups, at: daysAgo(days) } });

  test("suffice where nothing is stored of the owner", async () => {
    expect((await use(await tokenOf(await make()))).status).toBe(200);
  });

  test("are those of the newest facts that are stored", async () => {
    await stored("colleague", ["developers", "shop"], 9);
    const environment = await make({ owner: ownerOf("colleague") });
    expect((await use(await tokenOf(environment))).status).toBe(200);
    await stored("colleague", ["viewers"], 2);
    const extended = await service.environments.find(environment.metadata.uid);
    const again = await tokenOf(extended ?? environment);
    expect((await use(again)).status).toBe(403);
    expect((await open(again)).status).toBe(403);
    expect(await ttlOf(environment)).toBe(48);
  });

  test("are none for an owner without a role, and for one who was not confirmed for too long", async () => {
    await stored("outsider", [], 1);
    expect((await use(await tokenOf(await make({ owner: ownerOf("outsider") })))).status).toBe(403);
    await stored("admin", ["admins"], 31);
    expect((await use(await tokenOf(await make({ owner: ownerOf("admin") })))).status).toBe(403);
  });

  test("are none for an owner of an issuer that is not trusted, and without an owner", async () => {
    const foreign = await make({ owner: ownerOf("developer", "https://other.example.test") });
    expect((await use(await tokenOf(foreign))).status).toBe(403);
    const { owner: _, ...spec } = (await make()).spec;
    const ownerless = await service.environments.create(unique("linked-"), spec);
    expect((await use(await tokenOf(ownerless))).status).toBe(403);
  });
});

describe("the records of links", () => {
  test("name the owner and the link, and never the token", async () => {
    const environment = await make();
    const token = await tokenOf(environment);
    await use(token);
    const record = service.audit.records.at(-1);
    expect(record).toMatchObject({
      action: "useExtension",
      event: "change",
      outcome: "accepted",
      target: "link",
      actor: { subject: ownerOf("developer").subject, method: "link" },
      objects: [{ name: environment.metadata.name, uid: environment.metadata.uid }],
    });
    await use(token);
    expect(service.audit.records.at(-1)).toMatchObject({ outcome: "refused", actor: { method: "link" } });
    await open(token);
    const written = JSON.stringify([service.audit.records, service.log]);
    for (const part of token.split(".")) expect(written).not.toContain(part);
  });

  test("of an unsigned token name no person", async () => {
    const environment = await make();
    await use(await tokenOf(environment, {}, new Sensitive("another")));
    expect(service.audit.records.at(-1)).toMatchObject({ outcome: "refused", actor: { method: "none" }, objects: [] });
  });
});

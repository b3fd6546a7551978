import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { AUDIT_ID_ANNOTATION } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { AuditRecord } from "../../../operator/ports/audit-trail.ts";
import { type RedisServer, redisServer } from "../../support/doubles/redis-server.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { unique } from "../../support/plane/people.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

const LIMIT = 8;
/** A loss is forgotten after ten seconds. */
const SHARED_DEADLINE_MS = 60_000;

let world: World;
let issuer: TokenIssuer;
let redis: RedisServer;
let folder: string;
let replicas: readonly [PlatformProcess, PlatformProcess];

const auditFolder = (index: number) => join(folder, `replica-${index}`);
const auditFile = (index: number) => join(auditFolder(index), "audit.log");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "limits-and-audit-"));
  [world, issuer, redis] = await Promise.all([createWorld(), startTokenIssuer(), redisServer()]);
  const passwordFile = join(folder, "redis-password");
  await writeFile(passwordFile, redis.password, { mode: 0o600 });
  const replica = async (index: number) => {
    await mkdir(auditFolder(index));
    const api = {
      issuers: [
        {
          issuer: issuer.issuer,
          audience: AUDIENCE,
          roles: { developer: ["developers"], maintainer: ["maintainers"] },
        },
      ],
      limits: {
        authenticatedPerMinute: LIMIT,
        unauthenticatedPerMinute: 100_000,
        redis: { url: redis.url, passwordFile },
      },
    };
    const audit = { file: { path: auditFile(index) } };
    return platformProcess(world.identity, { ...testSettings, leaderElection: true, api, audit });
  };
  replicas = await Promise.all([replica(0), replica(1)]);
  // Redis does not run yet.
  await Promise.all(replicas.map((one) => one.start()));
  for (const one of replicas) {
    const isReady = async () => (await fetch(`${one.url}/api/ready`)).ok;
    await until(isReady, { what: "a replica being ready", deadlineMs: 30_000 });
  }
}, 120_000);
afterAll(async () => {
  await Promise.all(replicas.map((one) => one.stop()));
  await Promise.all([redis.stop(), issuer.stop()]);
  await world.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const newcomer = (group = "developers") => issuer.sign({ sub: unique("dev-"), groups: [group] });
const get = (one: PlatformProcess, bearer: string, path = "/api/environments") =>
  fetch(`${one.url}${path}`, { headers: { authorization: `Bearer ${bearer}` } });
const expectStatus = async (one: PlatformProcess, status: string) => {
  const look = async () => ((await (await fetch(`${one.url}/api/status`)).json()) as { status: string }).status;
  // A Redis that answers slowly counts as down for that check.
  await until(async () => (await look()) === status, { what: `the status ${status}`, deadlineMs: 30_000 });
};

async function admitted(bearer: string): Promise<number> {
  const statuses: number[] = [];
  for (const one of replicas) {
    for (let call = 0; call <= LIMIT; call++) statuses.push((await get(one, bearer)).status);
  }
  // A client that changes between the ways of counting may reach no limit.
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

describe("two replicas and a Redis", () => {
  const untilShared = () =>
    until(async () => (await admitted(await newcomer())) === LIMIT, {
      what: "replicas that count together",
      deadlineMs: SHARED_DEADLINE_MS,
    });

  test("that is away at the start, comes, goes and comes back: limits hold, and no request fails", async () => {
    const [one] = replicas;
    expect(await admitted(await newcomer())).toBe(2 * LIMIT);
    await expectStatus(one, "degraded");
    for (const _round of [1, 2]) {
      await redis.start();
      await untilShared();
      await expectStatus(one, "healthy");
      await redis.stop();
      expect(await admitted(await newcomer())).toBe(2 * LIMIT);
      await expectStatus(one, "degraded");
    }
  }, 300_000);
});

describe("the audit log of two replicas", () => {
  const isRecord = (line: string) => line.startsWith('{"log":"audit"');
  const recordsIn = (text: string): AuditRecord[] =>
    text
      .split("\n")
      .filter(isRecord)
      .map((line) => JSON.parse(line));
  const about = (records: readonly AuditRecord[], name: string) =>
    records.filter(({ target, objects }) => target === name || objects.some((object) => object.name === name));
  const everywhere = (name: string) => replicas.flatMap(({ output }) => about(recordsIn(output), name));

  test("says once who made what, on standard output and in the file, under the id that the resource bears", async () => {
    const [one] = replicas;
    const name = unique("audited-");
    const bearer = await newcomer();
    const body = {
      environment_name: name,
      backend_repo: "test-backend",
      backend_branch: "main",
      backend_commit: COMMIT,
    };
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
    const post = await fetch(`${one.url}/api/environments`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(post.status).toBe(200);
    const made = await world.find(name);
    const kept = about(recordsIn(await readFile(auditFile(0), "utf8")), name);
    expect(kept).toMatchObject([
      { auditId: made?.metadata.annotations?.[AUDIT_ID_ANNOTATION], action: "createEnvironment", outcome: "accepted" },
    ]);
    expect(everywhere(name)).toEqual(kept);

    await world.admin.patch(environmentType, { name }, { spec: { ttlHours: 3 } }, { as: "merge" });
    const seen = {
      action: "changed",
      outcome: "seen",
      actor: { method: "kubernetes", fieldManagers: ["controller-kit"] },
    };
    await until(() => everywhere(name).length > 1, { what: "the change's record" });
    expect(everywhere(name).slice(1)).toMatchObject([seen]);

    const outputs = replicas.map(({ output }) => output).join("");
    expect(outputs).not.toContain(bearer.split(".")[1]);
  }, 60_000);

  test("stops what maintainers change while its file can't be written, and nothing else", async () => {
    const [one] = replicas;
    const [maintainer, developer] = [await newcomer("maintainers"), await newcomer()];
    const reload = async () =>
      (
        await fetch(`${one.url}/api/repos/reload`, {
          method: "POST",
          headers: { authorization: `Bearer ${maintainer}` },
        })
      ).status;
    await rename(auditFolder(0), `${auditFolder(0)}-away`);
    expect(await reload()).toBe(503);
    expect((await get(one, developer)).status).toBe(200);
    await rename(`${auditFolder(0)}-away`, auditFolder(0));
    expect(await reload()).toBe(200);
    const { length } = about(recordsIn(await readFile(auditFile(0), "utf8")), "repositories");
    expect(length).toBe(2);
  }, 60_000);
});

import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec } from "../../../../crds/environment/ephemeral-environment.ts";
import { type CommandLine, startCommandLine } from "../../../support/cli/command-line.ts";
import { READY, step, untilFollowed, writeStatus } from "../../../support/cli/operator.ts";
import { configSetFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { until } from "../../../support/fixtures/until.ts";

let line: CommandLine;
beforeEach(async () => {
  line = await startCommandLine({ configSets: [configSetFixture("web")] });
});
afterEach(() => line.stop());

async function make(name: string, more: Partial<EnvironmentSpec> = {}): Promise<string> {
  const { metadata } = await line.service.environments.create(name, {
    backend: { repository: "shop-api", branch: "main" },
    ttlHours: 24,
    access: { groups: ["shop"] },
    owner: { subject: `${line.service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
    ...more,
  });
  await writeStatus(line.service, name, READY);
  return metadata.uid;
}

describe("environments", () => {
  test("are listed for people, for programs and by name", async () => {
    const uid = await make("shop-one");
    await make("shop-two");
    const table = await line.eenv("developer", ["list"]);
    expect(table).toMatchObject({ code: 0, stderr: "" });
    const [titles = "", ...rows] = table.stdout.trimEnd().split("\n");
    expect(titles).toMatch(/^NAME +STATUS +URL +EXPIRES +AGE +CREATOR$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual(
      expect.arrayContaining([
        ["shop-one", "ready"],
        ["shop-two", "ready"],
      ]),
    );
    expect((await line.eenv("developer", ["ls", "--no-headers", "-o", "wide"])).stdout).toContain(uid);
    expect((await line.eenv("developer", ["ls", "--search", "TWO", "-o", "name"])).stdout).toBe("shop-two\n");
    const { stdout } = await line.eenv("developer", ["list", "-o", "json"]);
    expect(JSON.parse(stdout)).toHaveLength(2);
    expect((await line.eenv("colleague", ["list", "--mine", "-o", "name"])).stdout).toBe("");
    expect(await line.eenv("stranger", ["list"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^NAME/),
      stderr: "There are no such environments.\n",
    });
  });

  test("the list is read page by page", async () => {
    await make("z-own");
    for (let index = 0; index < 103; index += 1) {
      await line.service.environments.create(`shop-${index}`, {
        backend: { repository: "shop-api", branch: "main" },
        access: { groups: ["shop"] },
      });
    }
    const all = await line.eenv("developer", ["list", "--limit", "1000", "-o", "name"]);
    expect(new Set(all.stdout.trim().split("\n")).size).toBe(104);
    expect(all.stderr).toBe("");
    const first = await line.eenv("developer", ["list", "--limit", "100", "-o", "name"]);
    expect(first.stdout).not.toContain("z-own");
    const own = await line.eenv("developer", ["list", "--mine", "--limit", "100", "-o", "name"]);
    expect(own).toMatchObject({ code: 0, stdout: "z-own\n", stderr: "" });
    const some = await line.eenv("developer", ["list", "--limit", "2", "-o", "name"]);
    expect(some).toMatchObject({ stderr: expect.stringContaining("There may be more than these 2: --limit") });
    expect(some.stdout.trim().split("\n")).toHaveLength(2);
  });

  test("one is shown with its steps, and again at each change until it is gone", async () => {
    await make("shop-one");
    const urls = { backend: "https://shop-one--api.env.test", hosts: { admin: "https://shop-one--admin.env.test" } };
    await writeStatus(line.service, "shop-one", { ...READY, urls });
    const { stdout } = await line.eenv("developer", ["get", "shop-one"]);
    expect(stdout).toMatch(/^name +shop-one$/m);
    expect(stdout).toMatch(
      /^backend url +https:\/\/shop-one--api.env.test\nadmin url +https:\/\/shop-one--admin.env.test$/m,
    );
    expect(stdout).toMatch(/^✓ NamespaceReady$/m);
    const watching = await line.start("developer", ["get", "shop-one", "-w", "-o", "json"]);
    await untilFollowed(line.service);
    await until(() => watching.written.stdout !== "", { what: "the first state" });
    await writeStatus(line.service, "shop-one", { phase: "failed" });
    await until(() => watching.written.stdout.includes("failed"), { what: "the change" });
    line.service.environments.finishRemoval("shop-one");
    const { code, stdout: lines } = await watching.ended;
    expect(code).toBe(0);
    const states = lines.trim().split("\n");
    expect(states.map((text) => JSON.parse(text).status)).toEqual(["ready", "failed"]);
  });

  test("a wait goes on while the platform does not answer", async () => {
    await make("shop-one");
    await writeStatus(line.service, "shop-one", { phase: "updating" });
    const waiting = await line.start("developer", ["wait", "shop-one"]);
    await until(() => waiting.written.stderr.includes("is updating"), { what: "its state" });
    line.server.close();
    line.server.closeAllConnections();
    await until(() => waiting.written.stderr.includes("The platform does not answer; trying again."), {
      what: "the word about it",
      deadlineMs: 20_000,
    });
    line.server.listen(Number(new URL(line.url).port), "127.0.0.1");
    await once(line.server, "listening");
    await writeStatus(line.service, "shop-one", READY);
    expect(await waiting.ended).toMatchObject({ code: 0 });
  }, 60_000);

  test("a move of what sleeps is waited for until it is there, asleep or awake", async () => {
    await make("shop-one");
    const sleep = { state: "asleep", since: "2026-06-01T12:00:00Z", cause: "idle", afterIdleMinutes: 60 } as const;
    const asleep = { ...READY, conditions: [...(READY.conditions ?? []), step("Asleep", "True")], sleep };
    await writeStatus(line.service, "shop-one", asleep);
    const awake = { ...sleep, state: "awake" } as const;
    const commit = "d".repeat(40);
    for (const [sha, next] of [[commit, asleep] as const, ["e".repeat(40), { ...READY, sleep: awake }] as const]) {
      const moving = await line.start("developer", ["update", "shop-one", "--commit", sha, "-o", "name"]);
      await until(() => moving.written.stderr.includes("shop-one is"), { what: "the state before" });
      expect(moving.child.exitCode).toBeNull();
      await writeStatus(line.service, "shop-one", next);
      expect(await moving.ended).toMatchObject({ code: 0, stdout: "shop-one\n" });
    }
  });

  test("sleeping is waited for: what was ready before does not count", async () => {
    await make("shop-one");
    const sleeping = await line.start("developer", ["sleep", "shop-one", "--wait", "-o", "name"]);
    await untilFollowed(line.service);
    await until(() => sleeping.written.stderr.includes("is ready"), { what: "the state before" });
    expect(sleeping.child.exitCode).toBeNull();
    const conditions = [...(READY.conditions ?? []), step("Suspended", "True")];
    await writeStatus(line.service, "shop-one", { phase: "ready", conditions });
    expect(await sleeping.ended).toMatchObject({ code: 0, stdout: "shop-one\n" });
    const waking = await line.eenv("developer", ["wake", "shop-one", "-o", "json"]);
    expect(JSON.parse(waking.stdout)).toMatchObject({ suspended: false });
    const early = await line.eenv("developer", ["wait", "shop-one", "--timeout", "1"]);
    expect(early).toMatchObject({ code: 124, stdout: "" });
  });

  test("an extension adds to the time that there is, with a reason", async () => {
    await make("shop-one");
    const extended = await line.eenv("developer", ["extend", "shop-one", "8h", "--reason", "a demo", "-o", "json"]);
    expect(JSON.parse(extended.stdout)).toMatchObject({ ttl_hours: 32 });
    expect(await line.eenv("developer", ["extend", "shop-one", "30d"])).toMatchObject({ code: 1, stdout: "" });
    const updated = await line.eenv("developer", ["update", "shop-one", "--ttl", "2d", "--protected", "-o", "json"]);
    expect(JSON.parse(updated.stdout)).toMatchObject({ ttl_hours: 48, protected: true });
  });

  test("a reset of the database asks first, because its data is deleted", async () => {
    await make("shop-one", { database: { provision: true } });
    await writeStatus(line.service, "shop-one", { phase: "ready", database: { made: true } });
    const generation = async () => (await line.service.environments.find("shop-one"))?.spec.database?.generation;
    const unasked = await line.eenv("developer", ["reset-database", "shop-one"]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await generation()).toBeUndefined();
    const reset = await line.eenv("developer", ["reset-database", "shop-one", "--yes", "-o", "name"]);
    expect(reset).toMatchObject({ code: 0, stdout: "shop-one\n" });
    expect(await generation()).toBe(2);
  });

  test("a creation names the environment whose database it copies, which is shown once it is made", async () => {
    await make("shop-one", { access: { groups: ["shop", "platform"] }, database: { provision: true } });
    const create = ["create", "shop-two", "--repo", "shop-api", "--branch", "main", "--no-wait", "-o", "name"];
    const made = await line.eenv("developer", [...create, "--database", "--database-from", "shop-one"]);
    expect(made).toMatchObject({ code: 0, stdout: "shop-two\n" });
    const from = { environment: "shop-one" };
    expect((await line.service.environments.find("shop-two"))?.spec.database).toEqual({ provision: true, from });
    await writeStatus(line.service, "shop-two", { phase: "ready", database: { made: true, from } });
    expect((await line.eenv("developer", ["get", "shop-two"])).stdout).toMatch(/copied from +shop-one/);
  });

  test("an update says when it sleeps: by hours, when idle, or never", async () => {
    await make("shop-one");
    const sleepOf = async (...flags: string[]) => {
      const { code, stderr } = await line.eenv("developer", ["update", "shop-one", ...flags, "-o", "json"]);
      return code === 0 ? (await line.service.environments.find("shop-one"))?.spec.sleep : stderr;
    };
    const hours = ["--awake", "Mon-Fri 08:00-19:00", "--time-zone", "Europe/Berlin"];
    const schedule = { timeZone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] };
    expect(await sleepOf(...hours)).toEqual({ schedule });
    const idle = ["--after-idle", "60", "--minimum-requests", "10"];
    expect(await sleepOf(...hours, ...idle)).toEqual({ schedule, afterIdleMinutes: 60, minimumRequests: 10 });
    expect(await sleepOf("--minimum-requests", "10")).toMatch(/--after-idle, which is missing/);
    expect(await sleepOf("--awake=always", ...idle)).toMatch(/--awake=always stands alone/);
    expect(await sleepOf("--awake=always")).toEqual({});
  });

  test("a move is waited for: what was ready, or had failed, before it does not count", async () => {
    await make("shop-one");
    await writeStatus(line.service, "shop-one", { phase: "failed" });
    line.service.branchHeads.push("shop-api", "feature/cart", "d".repeat(40));
    const moving = await line.start("developer", ["update", "shop-one", "--branch", "feature/cart", "-o", "name"]);
    await untilFollowed(line.service);
    await until(() => moving.written.stderr.includes("is failed"), { what: "the state before" });
    expect(moving.child.exitCode).toBeNull();
    expect((await line.service.environments.find("shop-one"))?.spec.backend).toMatchObject({ commit: "d".repeat(40) });
    await writeStatus(line.service, "shop-one", READY);
    expect(await moving.ended).toMatchObject({ code: 0, stdout: "shop-one\n" });
    const commit = ["--commit", "e".repeat(40), "--no-wait", "-o", "json"];
    const { stdout } = await line.eenv("developer", ["update", "shop-one", ...commit]);
    expect(JSON.parse(stdout)).toMatchObject({ observed: false });
    expect(await line.eenv("developer", ["update", "shop-one", "--branch", "absent"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("has no branch 'absent'"),
    });
    expect(await line.eenv("developer", ["update", "shop-one", "--config-set-version", "next"])).toMatchObject({
      code: 2,
    });
    expect(await line.eenv("developer", ["update", "shop-one"])).toMatchObject({ code: 2 });
  });

  test("a deletion needs a yes, and can be waited for", async () => {
    await make("shop-one");
    expect(await line.eenv("developer", ["delete", "shop-one"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes says so"),
    });
    const deleting = await line.start("developer", ["delete", "shop-one", "--yes", "--wait"]);
    await untilFollowed(line.service);
    await until(() => deleting.written.stderr.includes("terminating"), { what: "its deletion" });
    line.service.environments.finishRemoval("shop-one");
    expect(await deleting.ended).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("is deleted.") });
    expect(await line.eenv("developer", ["delete", "shop-one", "--yes"])).toMatchObject({ code: 5 });
    expect(await line.eenv("developer", ["wait", "shop-one", "--for", "deleted"])).toMatchObject({ code: 0 });
  });

  test("exits with 4 without a right, 5 for a missing thing, and 1 while the platform is away", async () => {
    await make("shop-one");
    expect(await line.eenv("viewer", ["protect", "shop-one"])).toMatchObject({ code: 4, stdout: "" });
    expect(await line.eenv("stranger", ["get", "shop-one"])).toMatchObject({ code: 5, stdout: "" });
    const away = { env: { EENV_URL: "http://127.0.0.1:1" } };
    const { code, stderr } = await line.eenv("viewer", ["whoami"], away);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the platform can't be reached") });
  });
});

test("a log is followed over a connection that breaks, without a gap, and without what a terminal obeys", async () => {
  await make("shop");
  const write = (text: string, second: number) =>
    line.service.podLogs.write("shop", "backend", { at: new Date(`2026-06-01T12:00:0${second}.000Z`), text });
  write("one \u001b[31mred", 0);
  const following = await line.start("viewer", ["logs", "shop", "-f"]);
  await until(() => following.written.stdout.includes("red"), { what: "the first line" });
  line.server.closeAllConnections();
  write("two", 1);
  await until(() => following.written.stdout.includes("two"), { what: "the line of meanwhile", deadlineMs: 10_000 });
  following.child.kill("SIGINT");
  const { code, stdout } = await following.ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "INFO  one red\nINFO  two\n" });
  const { stdout: json } = await line.eenv("viewer", ["logs", "shop", "--tail", "1", "-o", "json"]);
  expect(JSON.parse(json)).toMatchObject({ component: "backend", logs: [{ message: "two" }] });
});

test("the workloads of an environment are shown with it, and each has its log", async () => {
  await make("shop");
  const redis = { kind: "StatefulSet", name: "redis", images: [], restarts: 2, ready: 0, desired: 1, problem: "fails" };
  line.service.workloads.put("shop", redis, { kind: "Rollout", name: "web", images: [], restarts: 0, ready: 3 });
  expect((await line.eenv("viewer", ["get", "shop"])).stdout).toMatch(
    /WORKLOAD +READY +RESTARTS +PROBLEM\nStatefulSet\/redis +0\/1 +2 +fails\nRollout\/web +3 +0 +-\n$/,
  );
  line.service.podLogs.write("shop", "StatefulSet/redis", { at: new Date(), text: "out of memory" });
  const { stdout } = await line.eenv("viewer", ["logs", "shop", "--workload", "redis"]);
  expect(stdout).toBe("INFO  out of memory\n");
  expect(await line.eenv("viewer", ["logs", "shop", "--workload", "nope"])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("it has StatefulSet/redis, Rollout/web"),
  });
  line.service.workloads.setReachable(false);
  const { code, stdout: shown } = await line.eenv("viewer", ["get", "shop"]);
  expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining("its workloads can't be listed: ") });
}, 60_000);

test("a token's value alone is on stdout, and it is good until it is revoked", async () => {
  const made = await line.eenv("maintainer", ["token", "create", "ci", "--scope", "ENV_CREATE,ENV_READ"]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^svc_\S+\n$/) });
  const env = { EENV_TOKEN: made.stdout.trim() };
  expect(await line.eenv("outsider", ["whoami", "-o", "name"], { env })).toMatchObject({
    stdout: "mai@example.test\n",
  });
  const { stdout } = await line.eenv("maintainer", ["token", "list", "-o", "name"]);
  expect(await line.eenv("maintainer", ["token", "revoke", stdout.trim()])).toMatchObject({ code: 0 });
  expect(await line.eenv("maintainer", ["token", "list", "-o", "json"])).toMatchObject({
    stdout: expect.stringContaining('"status": "revoked"'),
  });
});

test("a config set that was printed can be applied again", async () => {
  const { stdout: yaml } = await line.eenv("maintainer", ["config-set", "get", "web", "-o", "yaml"]);
  const changed = yaml.replace(/^description: .*$/m, 'description: "changed"');
  const applied = await line.eenv("maintainer", ["config-set", "apply", "-f", "-", "-o", "json"], { input: changed });
  expect(JSON.parse(applied.stdout)).toMatchObject({ name: "web", version: 2, description: "changed" });
  const fresh = await line.eenv("maintainer", ["config-set", "apply", "-f", "-"], { input: "name: fresh" });
  expect(fresh).toMatchObject({ code: 0, stdout: expect.stringContaining("fresh") });
  expect(await line.eenv("maintainer", ["config-set", "delete", "fresh", "--yes"])).toMatchObject({ code: 0 });
});

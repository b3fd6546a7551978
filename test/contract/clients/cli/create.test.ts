import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type CommandLine, eenvFile, startCommandLine } from "../../../support/cli/command-line.ts";
import { READY, step, untilFollowed, untilMade, writeStatus } from "../../../support/cli/operator.ts";
import { until } from "../../../support/fixtures/until.ts";

const SHOP = ["create", "shop-test", "--repo", "shop-api", "--branch", "main"] as const;
const URL_OF_SHOP = "https://shop-test--api.env.example.test:18443";

let line: CommandLine;
beforeEach(async () => {
  line = await startCommandLine();
});
afterEach(() => line.stop());

const environments = () => line.service.environments.list();

describe("eenv create", () => {
  test("waits until the environment is ready: its URL alone is on stdout, each step once on stderr", async () => {
    const creating = await line.start("developer", SHOP);
    await untilFollowed(line.service);
    await writeStatus(line.service, "shop-test", { phase: "creating", conditions: [step("NamespaceReady", "True")] });
    await until(() => creating.written.stderr.includes("NamespaceReady: done"), { what: "the first step" });
    expect(creating.written.stdout).toBe("");
    await writeStatus(line.service, "shop-test", READY);
    const { code, stdout, stderr } = await creating.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${URL_OF_SHOP}\n` });
    expect(stderr.replaceAll(/^ *\d+s {2}/gm, "")).toBe(
      "shop-test is creating\nNamespaceReady: done\nshop-test is ready\n",
    );
  });

  test("draws the steps again on a terminal, and keeps its lines shorter than the terminal", async () => {
    await writeFile(join(line.home, "token"), (await line.service.bearer("developer")).replace("Bearer ", ""));
    const command = `stty cols 40; EENV_TOKEN=$(cat token) ${process.execPath} ${eenvFile} ${SHOP.join(" ")}`;
    const creating = line.spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"]);
    await untilFollowed(line.service);
    const long = "waits for a thing with a name that is longer than the terminal is wide";
    await writeStatus(line.service, "shop-test", { phase: "creating", conditions: [step("UrlsReady", "False", long)] });
    await until(() => creating.written.stdout.includes("UrlsReady"), { what: "the step" });
    await writeStatus(line.service, "shop-test", READY);
    const { code, stdout } = await creating.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("\u001b[2A\u001b[2Kshop-test is ready");
    expect(stdout).toContain("…");
    expect(stdout).not.toContain("terminal is wide");
  });

  test.each([
    ["with colours", "", true],
    ["without them where NO_COLOR says so", "NO_COLOR=1", false],
  ])("is written on a terminal %s", async (_, variable, hasColours) => {
    const command = `${variable} ${process.execPath} ${eenvFile} create --help`;
    const { code, stdout } = await line.spawn("script", ["-qec", command, "/dev/null"], { env: { TERM: "xterm" } })
      .ended;
    expect(code).toBe(0);
    expect(stdout.includes("\u001b[")).toBe(hasColours);
  });

  test("gives programs JSON alone, and nothing that a terminal obeys to people", async () => {
    const creating = await line.start("developer", [...SHOP, "-o", "json"]);
    await untilFollowed(line.service);
    const hostile = "\u001b]0;owned\u0007\u001b[2Jnot \u009b31m\u202eyet\r\nevil";
    await writeStatus(line.service, "shop-test", {
      phase: "ready",
      conditions: [step("DatabaseReady", "False", hostile), step("Ready", "True")],
    });
    const { code, stdout, stderr } = await creating.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ name: "shop-test", status: "ready", urls: { backend: URL_OF_SHOP } });
    expect(`${stdout}${stderr}`).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    expect(stderr).toContain("DatabaseReady: not yet evil");
  });

  test("ends with 3 when the environment fails, and says which step and why", async () => {
    const creating = await line.start("developer", [...SHOP, "-o", "json"]);
    await untilFollowed(line.service);
    await writeStatus(line.service, "shop-test", {
      phase: "failed",
      conditions: [step("ApplicationSynced", "False", "the image can't be pulled"), step("Ready", "False")],
    });
    const { code, stdout, stderr } = await creating.ended;
    expect(code).toBe(3);
    expect(stderr).toContain("eenv: shop-test failed\n  ApplicationSynced: the image can't be pulled\n");
    expect(JSON.parse(stdout)).toMatchObject({ status: "failed" });
  });

  test("ends with 124 when it takes longer than the timeout, and says how to go on", async () => {
    const { code, stdout, stderr } = await line.eenv("developer", [...SHOP, "--timeout", "1s"]);
    expect({ code, stdout }).toEqual({ code: 124, stdout: "" });
    expect(stderr).toContain("eenv: not ready within 1s; it goes on: eenv wait shop-test --for ready\n");
    expect(environments()).toHaveLength(1);
  });

  test("ends with 130 when it is interrupted; the environment goes on", async () => {
    const creating = await line.start("developer", SHOP);
    await untilFollowed(line.service);
    await until(() => creating.written.stderr.includes("creating"), { what: "the first state" });
    creating.child.kill("SIGINT");
    const { code, stderr } = await creating.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("interrupted; it goes on: eenv wait shop-test");
    expect(environments()).toHaveLength(1);
  });

  test("a pipeline that is killed and runs again makes one environment", async () => {
    const killed = await line.start("developer", SHOP);
    const { metadata } = await untilMade(line.service, "shop-test");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const again = await line.start("developer", [...SHOP, "-o", "json"]);
    await untilFollowed(line.service);
    await writeStatus(line.service, "shop-test", READY);
    const { code, stdout } = await again.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: metadata.uid });
    expect(environments()).toHaveLength(1);
  });

  test("another request for the name is refused, or takes what there is where it is the same branch", async () => {
    await line.eenv("developer", [...SHOP, "--no-wait"]);
    const other = [...SHOP, "--ttl", "2d", "--no-wait"];
    const refused = await line.eenv("developer", other);
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("--if-exists=use takes it") });
    const used = await line.eenv("developer", [...other, "--if-exists=use"]);
    expect(used).toMatchObject({ code: 0, stdout: `${URL_OF_SHOP}\n` });
    const branch = other.map((word) => (word === "main" ? "other" : word));
    expect(await line.eenv("developer", [...branch, "--if-exists=use"])).toMatchObject({
      code: 1,
      stderr: "eenv: shop-test exists, but from shop-api@main: it can't be used instead\n",
    });
    expect(environments()).toHaveLength(1);
  });

  test("waits for the end of a former environment of the name, and makes a new one", async () => {
    await line.eenv("developer", [...SHOP, "--no-wait"]);
    const former = await untilMade(line.service, "shop-test");
    await line.service.environments.remove(former);
    const creating = await line.start("developer", [...SHOP, "-o", "json"]);
    await until(() => creating.written.stderr.includes("still being deleted"), { what: "what is waited for" });
    await untilFollowed(line.service);
    line.service.environments.finishRemoval("shop-test");
    const next = await untilMade(line.service, "shop-test");
    expect(next.metadata.uid).not.toBe(former.metadata.uid);
    await until(() => creating.written.stderr.includes("creating"), { what: "the new one's state" });
    await writeStatus(line.service, "shop-test", READY);
    expect(await creating.ended).toMatchObject({ code: 0 });
  });

  test("takes the fields of a file; flags and --set win over it", async () => {
    const file = {
      environment_name: "from-file",
      backend_repo: "shop-api",
      backend_branch: "main",
      ttl: 5,
      config_overrides: { helm_values: { backend: { replicas: 2, env: { LOG_LEVEL: "info", KEPT: "yes" } } } },
    };
    await writeFile(join(line.home, "environment.yaml"), JSON.stringify(file));
    const set = ["--set", "backend.env.LOG_LEVEL=1", "--set", "backend.replicas=3"];
    const args = ["create", "-f", "environment.yaml", "--branch", "next", "--ttl", "8h", ...set, "--no-wait"];
    expect(await line.eenv("developer", args)).toMatchObject({ code: 0, stderr: "" });
    expect((await untilMade(line.service, "from-file")).spec).toMatchObject({
      ttlHours: 8,
      backend: { repository: "shop-api", branch: "next" },
      overrides: {
        backend: {
          replicas: 3,
          env: [
            { name: "LOG_LEVEL", value: "1" },
            { name: "KEPT", value: "yes" },
          ],
        },
      },
    });
    const stdin = await line.eenv("developer", ["create", "other", "-f", "-", "--no-wait"], {
      input: JSON.stringify(file),
    });
    expect(stdin).toMatchObject({ code: 0 });
    expect((await untilMade(line.service, "other")).spec.ttlHours).toBe(5);
  });

  test.each([
    ["no repository", ["create", "shop-test", "--branch", "main"], "needs a NAME, --repo and --branch"],
    ["a duration that is none", [...SHOP, "--ttl", "soon"], "is no duration"],
    ["a value outside of the components", [...SHOP, "--set", "__proto__.x=1"], "is not of the form"],
    ["an unknown flag", [...SHOP, "--what"], "--what"],
    ["a file that is not there", ["create", "-f", "nowhere.yaml"], "nowhere.yaml can't be read"],
  ])("%s is misuse: 2", async (_, args, sentence) => {
    expect(await line.eenv("developer", args)).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
    expect(environments()).toHaveLength(0);
  });
});

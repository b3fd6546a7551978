import { beforeEach, describe, expect, test } from "@jest/globals";
import { until } from "../../support/fixtures/until.ts";
import { following } from "../suites/pod-logs.suite.ts";
import { podsWithLogs, running } from "./pods-with-logs.ts";

const world = podsWithLogs();
const { pod, tail } = world;

describe("a value of a Secret", () => {
  const PASSWORD = "correct-horse/battery+staple";
  const KEY = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\n-----END KEY-----";

  beforeEach(() => {
    world.kubelet.secrets.set("environment-secrets-1", { DATABASE_PASSWORD: PASSWORD, KEY });
  });

  test("is masked wherever a line has it, in JSON and in a line of many", async () => {
    const lines = [`password=${PASSWORD}`, JSON.stringify({ msg: PASSWORD }), ...KEY.split("\n"), "after"];
    world.kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", ...lines)));
    expect(await tail()).toEqual(["password=***", '{"msg":"***"}', "***", "***", "***", "after"]);
  });

  test("is masked in what one pod says of another's", async () => {
    world.kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }), pod({}, running("main", `got ${PASSWORD}`)));
    expect(await tail()).toEqual(["got ***"]);
  });

  test("is masked for followers, also in a pod that comes later", async () => {
    const follower = following(world.podLogs);
    world.kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", `got ${PASSWORD}`)));
    await until(() => follower.lines.length === 1, { what: "the line" });
    expect(follower.texts()).toEqual(["got ***"]);
    await follower.stop();
  });

  test("that is gone keeps the log of its pod from being shown", async () => {
    world.kubelet.pods.push(
      pod({ name: "old", secrets: ["environment-secrets-0"] }, running("main", "old secret")),
      pod({ name: "waiting", secrets: ["environment-secrets-0"] }, { name: "main", isRunning: false, runs: [] }),
      pod({}, running("main", "fine")),
    );
    const expected = ["fine", expect.stringMatching(/^WARN the log of pod 'old' is not shown: a Secret .* is gone/)];
    expect(await tail()).toEqual(expected);
    const follower = following(world.podLogs);
    await until(() => follower.lines.length === 2, { what: "both lines" });
    expect(follower.texts()).toEqual(expected);
    await follower.stop();
  });

  test("that may not be read keeps the log of its pod from being shown, and no other's", async () => {
    world.kubelet.withheld.add("environment-secrets-1");
    world.kubelet.pods.push(
      pod({ name: "closed", secrets: ["environment-secrets-1"] }, running("main", PASSWORD)),
      pod({}, running("main", "fine")),
    );
    expect(await tail()).toEqual(["fine", expect.stringMatching(/^WARN the log of pod 'closed' is not shown: /)]);
  });

  const secretReads = () => world.server.seen.filter(({ path }) => /\/secrets\b/.test(path));
  const named = Array.from({ length: 200 }, (_, index) => `secret-${index}`);

  test("is read once, however many pods name it", async () => {
    world.kubelet.pods.push(
      ...Array.from({ length: 5 }, () => pod({ secrets: ["environment-secrets-1"] }, running("main"))),
    );
    await tail();
    expect(secretReads()).toHaveLength(1);
  });

  test("abuse 91: costs a look one read, however many Secrets pods name, there or not", async () => {
    for (const name of named.slice(0, 100)) world.kubelet.secrets.set(name, { A: `value-of-${name}` });
    const said = `value-of-${named[7]} value-of-${named[99]}`;
    world.kubelet.pods.push(pod({ secrets: named.slice(0, 60) }, running("main", said)));
    world.kubelet.pods.push(
      pod({ secrets: named.slice(40, 100) }),
      pod({ secrets: named }, running("main", "withheld")),
    );
    expect(await tail()).toEqual(["*** ***", expect.stringMatching(/^WARN the log of pod '.*' is not shown: /)]);
    expect(secretReads()).toHaveLength(1);
    const follower = following(world.podLogs);
    await until(() => follower.lines.length === 2, { what: "both lines" });
    await follower.stop();
    expect(secretReads()).toHaveLength(2);
  });

  test("abuse 90: that can't be masked in time and memory is no line but one that says so", async () => {
    world.kubelet.secrets.set("environment-secrets-1", { A: "x".repeat(400 * 1024) });
    world.kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", "xxx", "yyy", "xxx")));
    const expected = [
      expect.stringMatching(/^WARN what was written is not shown, because its secrets can't be masked: /),
    ];
    expect(await tail()).toEqual(expected);
    const follower = following(world.podLogs);
    await until(() => follower.lines.length > 0, { what: "the line" });
    await follower.stop();
    expect(follower.texts()).toEqual(expected);
    const last = world.kubelet.pods[0]?.containers[0]?.runs[0]?.lines.at(-1)?.at;
    expect(follower.lines[0]).toMatchObject({ at: last, position: last });
  });
});

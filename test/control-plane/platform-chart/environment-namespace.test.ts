import { beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths, uidLabel } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const enforce = "pod-security.kubernetes.io/enforce";
const foreignLabel = `the label ${uidLabel} is set, changed and removed by the platform alone`;
const weakened = "the Pod Security labels of an environment's namespace are the platform's";

describe("abuse case 85: the label that makes a namespace ours, before a cluster administrator", () => {
  const ours = unique("env-label-");
  const foreign = unique("env-foreign-");
  const labels = (of: string, change: object) =>
    [`${paths.namespaces}/${of}?dryRun=All`, { metadata: { labels: change } }] as const;
  let admin: ApiCalls;
  let platform: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    await given(platform, paths.namespaces, namespaceObject(ours));
    await given(admin, paths.namespaces, { metadata: { name: foreign, labels: { [enforce]: "baseline" } } });
  }, 60_000);

  test("can't be made with a new namespace", async () => {
    const reply = await admin.create(`${paths.namespaces}?dryRun=All`, namespaceObject(unique("env-")));
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(foreignLabel) });
  });

  test.each([
    ["set on a foreign one", foreign, { [uidLabel]: "x" }, foreignLabel],
    ["changed on ours", ours, { [uidLabel]: "x" }, foreignLabel],
    ["taken off ours", ours, { [uidLabel]: null }, foreignLabel],
    ["left without the Pod Security of ours", ours, { [enforce]: null }, weakened],
    ["left with a weaker Pod Security of ours", ours, { [enforce]: "privileged" }, weakened],
    ["left with an older Pod Security of ours", ours, { [`${enforce}-version`]: "v1.20" }, weakened],
  ])("can't be %s", async (_, of, change, words) => {
    const reply = await admin.patch(...labels(of, change));
    expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
  });

  test.each(["status", "finalize"])(
    "can't be set through the subresource %s, which writes metadata too",
    async (subresource) => {
      const { object } = await admin.get(`${paths.namespaces}/${foreign}`);
      const metadata = { ...(object.metadata as object), labels: { [uidLabel]: "x" } };
      const reply = await admin.replace(`${paths.namespaces}/${foreign}/${subresource}?dryRun=All`, {
        ...object,
        metadata,
      });
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(foreignLabel) });
    },
  );

  test("leaves all other labels, and foreign namespaces, to whom they belong", async () => {
    expect(await admin.patch(...labels(ours, { team: "shop" }))).toMatchObject({ status: 200 });
    expect(await admin.patch(...labels(foreign, { [enforce]: "privileged" }))).toMatchObject({ status: 200 });
  });
});

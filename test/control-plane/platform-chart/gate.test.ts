import { beforeAll, describe, expect, test } from "@jest/globals";
import {
  LAST_ACTIVITY_ANNOTATION,
  RECONCILE_ANNOTATION,
  REQUESTED_ANNOTATION,
  WAKE_ANNOTATION,
} from "../../../crds/group.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, type Person, personWith, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const admin = administrator(plane);
const account = "system:serviceaccount:ephemeral-system:gate";
const groups = ["system:serviceaccounts", "system:serviceaccounts:ephemeral-system"];
const gate = callsAs(plane, { user: account, groups });

const NOW = "2026-11-27T06:30:00.123Z";
const requested = (at: unknown) => ({ metadata: { annotations: { [REQUESTED_ANNOTATION]: at } } });
const annotated = (key: string, value: string | null) => ({
  metadata: { annotations: { [REQUESTED_ANNOTATION]: NOW, [key]: value } },
});
const dry = (path: string) => `${path}?dryRun=All`;
const byPolicy = (words: string) => ({ status: 403, message: expect.stringContaining(words) });
const noKind = "is forbidden: User";

describe("the gate's account", () => {
  let own: string;
  let maintainer: Person;

  beforeAll(async () => {
    const name = unique("gated-");
    own = `${paths.environments}/${name}`;
    const annotations = { [WAKE_ANNOTATION]: "1", "example.test/kept": "yes" };
    const metadata = { annotations, labels: { team: "shop" }, finalizers: ["example.test/held"] };
    await given(admin, paths.environments, environmentObject(name, {}, metadata));
    maintainer = await personWith(plane, "ephemeral-environments-maintain");
    const mayList = async () => (await maintainer.get(paths.environments)).status === 200;
    await until(mayList, { what: "the maintainer's rights" });
  }, 60_000);

  test("reads environments, and nothing else", async () => {
    expect(await gate.get(own)).toMatchObject({ status: 200 });
    expect(await gate.get(`${paths.environments}?watch=true&timeoutSeconds=1`)).toMatchObject({ status: 200 });
    for (const path of [paths.repositories, paths.apiTokens, paths.namespaces, paths.secrets("ephemeral-system")]) {
      expect(await gate.get(path)).toMatchObject(byPolicy(noKind));
    }
  });

  test.each(["2026-11-27T06:30:00Z", NOW, "2026-11-27T07:30:00.123456+01:00"])(
    "sets the time of a request, %s",
    async (at) => {
      expect(await gate.patch(own, requested(at))).toMatchObject({ status: 200, object: requested(at) });
      const { object } = await gate.get(own);
      expect(object).toMatchObject({
        metadata: { annotations: { [WAKE_ANNOTATION]: "1", "example.test/kept": "yes" } },
      });
    },
  );

  test.each([
    ["a word", "now"],
    ["nothing", ""],
    ["a day", "2026-11-27"],
    ["a time of no zone", "2026-11-27T06:30:00"],
    ["a month that there is not", "2026-13-27T06:30:00Z"],
    ["an hour that there is not", "2026-11-27T25:30:00Z"],
    ["more than 32 characters", "2026-11-27T06:30:00.1234567890123Z"],
    ["something behind it", "2026-11-27T06:30:00Z\nx"],
  ])("sets no time that is %s", async (_, at) => {
    expect(await gate.patch(dry(own), requested(at))).toMatchObject(byPolicy("is a time as in RFC 3339"));
  });

  test("does not take the time of a request away", async () => {
    await gate.patch(own, requested(NOW));
    expect(await gate.patch(dry(own), requested(null))).toMatchObject(byPolicy("and no other"));
  });

  test.each([
    ["sets another one of the platform's", annotated(RECONCILE_ANNOTATION, "1")],
    ["changes another one of the platform's", annotated(WAKE_ANNOTATION, "2")],
    ["takes one away", annotated(WAKE_ANNOTATION, null)],
    ["says that a person was there", annotated(LAST_ACTIVITY_ANNOTATION, NOW)],
    ["sets one of others", annotated("example.test/more", "yes")],
    ["changes one of others", annotated("example.test/kept", "no")],
  ])("%s: refused, beside the time, too", async (_, change) => {
    expect(await gate.patch(dry(own), change)).toMatchObject(byPolicy("and no other"));
  });

  test.each([
    ["the spec", { spec: { ttlHours: 40 } }],
    ["whether it is suspended", { spec: { suspended: true } }],
    ["labels", { metadata: { labels: { team: "others" } } }],
    ["further labels", { metadata: { labels: { more: "yes" } } }],
    ["no labels any more", { metadata: { labels: null } }],
    ["finalizers", { metadata: { finalizers: ["example.test/held", "example.test/more"] } }],
    ["no finalizers any more", { metadata: { finalizers: null } }],
    [
      "owners",
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: crypto.randomUUID() }] } },
    ],
  ])("changes nothing else: %s", async (_, change) => {
    const { metadata, ...rest } = change as { metadata?: object };
    const whole = { ...rest, metadata: { ...metadata, ...requested(NOW).metadata } };
    expect(await gate.patch(dry(own), whole)).toMatchObject(byPolicy("changes nothing of an environment but one"));
  });

  describe("with more rights than the chart gives it", () => {
    const wide = callsAs(plane, { user: account, groups: [...groups, "system:masters"] });

    test("creates and deletes nothing of the platform's kinds, and writes no status", async () => {
      const made = environmentObject(unique("gated-"), {}, requested(NOW).metadata);
      expect(await wide.create(dry(paths.environments), made)).toMatchObject(byPolicy("does not create or delete"));
      expect(await wide.delete(dry(own))).toMatchObject(byPolicy("does not create or delete"));
      const status = { ...requested(NOW), status: { phase: "ready" } };
      // The API server names one of the policies that refuse it.
      expect(await wide.patch(dry(`${own}/status`), status)).toMatchObject({ status: 403 });
      const configSet = { apiVersion: "ephemeral-environments.dev/v1", kind: "ConfigSet", metadata: { name: "gated" } };
      expect(await wide.create(dry(paths.configSets), { ...configSet, spec: {} })).toMatchObject(
        byPolicy("does not create or delete"),
      );
    });

    test("replaces an environment where the time alone is new", async () => {
      const { object } = await gate.get(own);
      const { metadata } = object as { metadata: { annotations: object } };
      const annotations = { ...metadata.annotations, [REQUESTED_ANNOTATION]: "2026-11-27T06:31:00Z" };
      const replaced = { ...object, metadata: { ...metadata, annotations } };
      expect(await wide.replace(dry(own), replaced)).toMatchObject({ status: 200 });
    });
  });

  test("has no right to do more than the policy would let it try", async () => {
    expect(await gate.create(dry(paths.environments), environmentObject("gated"))).toMatchObject(byPolicy(noKind));
    expect(await gate.delete(dry(own))).toMatchObject(byPolicy(noKind));
    expect(await gate.patch(dry(`${own}/status`), requested(NOW))).toMatchObject(byPolicy(noKind));
  });

  test.each<[string, () => ApiCalls]>([
    ["a maintainer", () => maintainer],
    ["the platform", () => callsAs(plane, { token: plane.platform.token })],
  ])("and the policy of it do not concern %s", async (_, who) => {
    const change = { metadata: { annotations: { "example.test/kept": "no" } }, spec: { ttlHours: 40 } };
    expect(await who().patch(dry(own), change)).toMatchObject({ status: 200 });
    expect(await who().patch(dry(own), requested("any text"))).toMatchObject({ status: 200 });
  });

  test("alone sets the time, of those without the verb `assign`", async () => {
    const verbs = ["get", "list", "patch", "update"];
    const rule = { apiGroups: ["ephemeral-environments.dev"], resources: ["ephemeralenvironments"], verbs };
    const developer = await personWith(plane, [rule]);
    const mayList = async () => (await developer.get(paths.environments)).status === 200;
    await until(mayList, { what: "the developer's rights" });
    expect(await developer.patch(dry(own), requested("2026-11-27T08:00:00Z"))).toMatchObject(
      byPolicy("are the platform's"),
    );
    await developer.leave();
  });
});

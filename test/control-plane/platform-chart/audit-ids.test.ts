import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { tokenOf } from "../../../crds/api-token.ts";
import { AUDIT_ID_ANNOTATION, DELETION_TRACEPARENT_ANNOTATION } from "../../../crds/group.ts";
import { apiTokenFixture } from "../../support/fixtures/api-token-fixture.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, type Person, personWith, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const apiVersion = "ephemeral-environments.dev/v1";
const annotated = (id: string | null) => ({ annotations: { [AUDIT_ID_ANNOTATION]: id } });
const refused = {
  status: 403,
  message: expect.stringContaining("is set by the platform alone: take it out of what you apply, or leave it as it is"),
};

const kinds: readonly [kind: string, path: string, draft: (metadata: object) => object, change: object][] = [
  [
    "EphemeralEnvironment",
    paths.environments,
    (metadata) => environmentObject(unique("audited-"), {}, metadata),
    { spec: { ttlHours: 40 } },
  ],
  [
    "ConfigSet",
    paths.configSets,
    (metadata) => ({ apiVersion, kind: "ConfigSet", metadata: { name: unique("audited-"), ...metadata }, spec: {} }),
    { spec: { access: { groups: ["shop"] } } },
  ],
  [
    "Repository",
    paths.repositories,
    (metadata) => ({
      apiVersion,
      kind: "Repository",
      metadata: { name: unique("audited-"), ...metadata },
      spec: { type: "backend", cloneUrl: "http://127.0.0.1:9/x.git", image: { repository: "docker.io/local/x" } },
    }),
    { spec: { port: 8081 } },
  ],
];

describe("the id of a record", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;
  let maintainer: Person;
  const made: string[] = [];

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
    maintainer = await personWith(plane, "ephemeral-environments-maintain");
    const mayList = async () => (await maintainer.get(paths.repositories)).status === 200;
    await until(mayList, { what: "the maintainer's rights" });
  }, 60_000);
  /** An administrator's object with an audit id from the platform; its path. */
  const stamped = async (path: string, draft: (metadata: object) => object) => {
    const { metadata } = (await given(admin, path, draft({}))) as { metadata: { name: string } };
    const own = `${path}/${metadata.name}`;
    made.push(own);
    expect(await platform.patch(own, { metadata: annotated("audit-1") })).toMatchObject({ status: 200 });
    return own;
  };

  test.each(kinds)("makes no %s that another user brings it along for", async (_kind, path, draft) => {
    for (const person of [maintainer, admin]) {
      expect(await person.create(`${path}?dryRun=All`, draft(annotated("audit-1")))).toMatchObject(refused);
    }
  });

  test.each(kinds)("is neither added to nor changed on a %s by anybody else", async (_kind, path, draft, change) => {
    const own = await stamped(path, draft);
    for (const person of [maintainer, admin]) {
      const other = { ...change, metadata: annotated("audit-2") };
      expect(await person.patch(`${own}?dryRun=All`, other)).toMatchObject(refused);
    }
    await platform.patch(own, { metadata: annotated(null) });
    for (const person of [maintainer, admin]) {
      expect(await person.patch(`${own}?dryRun=All`, { metadata: annotated("audit-1") })).toMatchObject(refused);
    }
  });

  test.each(kinds)("hinders no user to change a %s that has it", async (_kind, path, draft, change) => {
    const own = await stamped(path, draft);
    for (const person of [maintainer, admin]) {
      expect(await person.patch(`${own}?dryRun=All`, change)).toMatchObject({ status: 200 });
      // As in `kubectl edit` and `kubectl replace`: the whole object, with the annotation as read.
      const { object } = await person.get(own);
      const edited = { ...object, spec: { ...(object.spec as object), ...(change as { spec: object }).spec } };
      expect(await person.replace(`${own}?dryRun=All`, edited)).toMatchObject({ status: 200 });
    }
  });

  test("and the span of a deletion are set by the platform alone", async () => {
    const span = {
      annotations: { [DELETION_TRACEPARENT_ANNOTATION]: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    };
    const own = await stamped(paths.environments, (metadata) => environmentObject(unique("audited-"), {}, metadata));
    for (const person of [maintainer, admin]) {
      expect(await person.patch(`${own}?dryRun=All`, { metadata: span })).toMatchObject(refused);
    }
    expect(await platform.patch(own, { metadata: span })).toMatchObject({ status: 200 });
    expect(await maintainer.patch(`${own}?dryRun=All`, { spec: { ttlHours: 40 } })).toMatchObject({ status: 200 });
  });

  test("makes no ApiToken, either", async () => {
    const { metadata, ...token } = apiTokenFixture({}, tokenOf(randomBytes(32)));
    const object = { ...token, metadata: { name: metadata.name, ...annotated("audit-1") } };
    expect(await admin.create(`${paths.apiTokens}?dryRun=All`, object)).toMatchObject({ status: 403 });
    expect(await platform.create(`${paths.apiTokens}?dryRun=All`, object)).toMatchObject({ status: 201 });
  });
});

import { beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();

const ours = unique("env-reached-");
const foreign = unique("env-prod-");
const others = unique("shop-");
const config = { metadata: { name: "shop" }, data: {} };
const service = { metadata: { name: "shop" }, spec: { ports: [{ port: 80 }] } };

describe("abuse case 97: Argo CD", () => {
  const user = "system:serviceaccount:argocd:argocd-application-controller";
  const deployer = callsAs(plane, { user, groups: ["system:masters"] });
  let admin: ApiCalls;

  beforeAll(async () => {
    admin = administrator(plane);
    await given(callsAs(plane, { token: plane.platform.token }), paths.namespaces, namespaceObject(ours));
    for (const name of [foreign, others]) await given(admin, paths.namespaces, { metadata: { name } });
    await given(admin, paths.configMaps(foreign), { ...config, metadata: { name: "theirs" } });
  }, 60_000);

  test("makes, changes and deletes nothing in a namespace env-* that is no environment's", async () => {
    const theirs = `${paths.configMaps(foreign)}/theirs`;
    const replies = [
      await deployer.create(paths.configMaps(foreign), config),
      await deployer.create(paths.services(foreign), service),
      await deployer.patch(theirs, { data: { a: "b" } }),
      await deployer.delete(theirs),
    ];
    const message = expect.stringContaining(
      `writes into namespaces env-* only where they are environments, and ${foreign}`,
    );
    for (const reply of replies) expect(reply).toMatchObject({ status: 403, message });
  });

  test.each([ours, others])("works in environments, and in what has another name: %s", async (name) => {
    const path = `${paths.configMaps(name)}/shop`;
    expect(await deployer.create(paths.configMaps(name), config)).toMatchObject({ status: 201 });
    expect(await deployer.patch(path, { data: { a: "b" } })).toMatchObject({ status: 200 });
    expect(await deployer.delete(path)).toMatchObject({ status: 200 });
  });

  test("is the only one who is meant", async () => {
    expect(await admin.create(paths.configMaps(foreign), config)).toMatchObject({ status: 201 });
  });
});

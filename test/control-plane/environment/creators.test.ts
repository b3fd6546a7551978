import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import { GROUP } from "../../../crds/group.ts";
import { configSetType, environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { environmentObject, given, paths } from "../../support/plane/chart/environment-objects.ts";
import { type Person, personWith } from "../../support/plane/people.ts";
import { backendOnly, COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

const namespace = "ephemeral-system";

let world: World;
/** A member of the group `shop` who creates environments with kubectl, without the verb `assign`. */
let creator: Person;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
  const verbs = ["get", "create"];
  const rights = [{ apiGroups: [GROUP], resources: ["ephemeralenvironments"], verbs }];
  creator = await personWith(world.plane, rights, ["shop"]);
  const refused = async () => {
    const { status } = await creator.create(`${paths.environments}?dryRun=All`, manifest("probe", "x", ["billing"]));
    return status === 403;
  };
  await until(refused, { what: "the policy being in force", deadlineMs: 30_000 });
  await world.register("shop-api", { access: { groups: ["shop"] }, maxEnvironments: 2 });
  await world.register("billing-api", { access: { groups: ["billing"] } });
}, 180_000);
afterAll(() => world.stop(), 60_000);

const manifest = (name: string, repository: string, groups: string[], more: object = {}) =>
  environmentObject(name, { backend: { repository, branch: "main", commit: COMMIT }, access: { groups }, ...more });
const make = (...parts: Parameters<typeof manifest>) => given(creator, paths.environments, manifest(...parts));
const expectReason = (name: string, type: "SourceResolved" | "ConfigurationResolved", reason: string) =>
  world.expectState(name, `saying ${reason}`, ({ status }) => {
    const condition = findCondition(status?.conditions, type);
    return status?.phase === "failed" && condition?.status === "False" && condition.reason === reason;
  });

// Abuse case 106: a creator who bypasses the REST interface.
test("a kubectl creator has no Repository of others, until its groups let him", async () => {
  await make("intruder", "billing-api", ["shop"]);
  const failed = await expectReason("intruder", "SourceResolved", "RepositoryNotShared");
  const found = await world.inventory(failed);
  expect([...found.keys()].filter((key) => /^(Application|AppProject|Secret|store)\//.test(key))).toEqual([]);
  await world.admin.patch(
    repositoryType,
    { name: "billing-api", namespace },
    { spec: { access: { groups: ["billing", "shop"] } } },
    { as: "merge" },
  );
  await world.expectPhase("intruder", "ready");

  await world.admin.patch(
    repositoryType,
    { name: "billing-api", namespace },
    { spec: { access: { groups: ["billing"] } } },
    { as: "merge" },
  );
  expect((await world.reconcile("intruder")).status?.phase).toBe("ready");
}, 90_000);

test("nor a config set of others", async () => {
  const ref = { name: "billing-set", namespace };
  await world.admin.create(configSetType, { metadata: ref, spec: { access: { groups: ["billing"] } } });
  await make("borrower", "test-backend", ["shop"], { configSet: { name: ref.name } });
  await expectReason("borrower", "ConfigurationResolved", "ConfigSetNotShared");
  await world.admin.patch(configSetType, ref, { spec: { access: null } }, { as: "merge" });
  await world.expectPhase("borrower", "ready");
}, 90_000);

test("nor more environments than the Repository may have; what has its place keeps it", async () => {
  await make("first", "shop-api", ["shop"]);
  await make("second", "shop-api", ["shop"]);
  for (const name of ["first", "second"]) await world.expectPhase(name, "ready");
  await make("third", "shop-api", ["shop"]);
  await expectReason("third", "SourceResolved", "RepositoryFull");

  const ref = { name: "shop-api", namespace };
  await world.admin.patch(repositoryType, ref, { spec: { maxEnvironments: 1 } }, { as: "merge" });
  for (const name of ["first", "second"]) expect((await world.reconcile(name)).status?.phase).toBe("ready");
  await world.admin.patch(repositoryType, ref, { spec: { maxEnvironments: 2 } }, { as: "merge" });

  const leaving = await world.find("first");
  await world.admin.delete(environmentType, { name: "first" });
  if (leaving !== undefined) await world.expectGone(leaving);
  await world.reconcile("third");
  await world.expectPhase("third", "ready");
}, 180_000);

test("what REST asserts by an owner is not checked again", async () => {
  const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };
  const backend = { ...backendOnly.backend, repository: "billing-api" };
  await world.create("asserted", { backend, owner, access: { groups: [] } });
  await world.expectPhase("asserted", "ready");
}, 60_000);

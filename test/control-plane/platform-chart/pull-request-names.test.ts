import { beforeAll, describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { administrator } from "../../support/faults/people.ts";
import { environmentObject, given, paths } from "../../support/fixtures/environment/environment-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const admin = administrator(await controlPlane());
const dryRun = `${paths.environments}?dryRun=All`;
const words = "metadata.name shop-admin-pr-9 is reserved for the environment of a pull request: choose another name";

const repository = (name: string, isEnabled: boolean) => {
  const { apiVersion, kind, metadata, spec } = aRepository(name, { pullRequest: { enabled: isEnabled } });
  return { apiVersion, kind, metadata: { name: metadata.name }, spec };
};

describe("the name of a pull request's environment", () => {
  beforeAll(async () => {
    await given(admin, paths.repositories, repository("shop-admin", true));
    await given(admin, paths.repositories, repository("shop-api", false));
    // The API server learns of a new Repository by a watch of its own.
    const isKnown = async () => (await admin.create(dryRun, environmentObject("shop-admin-pr-1"))).status === 403;
    await until(isKnown, { what: "the policy knowing the Repository" });
  }, 60_000);

  test("is taken by no other environment, whoever asks", async () => {
    expect(await admin.create(dryRun, environmentObject("shop-admin-pr-9"))).toMatchObject({
      status: 403,
      message: expect.stringContaining(words),
    });
    const triggered = environmentObject("shop-admin-pr-9", { trigger: { kind: "pipeline" } });
    expect(await admin.create(dryRun, triggered)).toMatchObject({ status: 403 });
  });

  test.each([
    ["made by its pull request", environmentObject("shop-admin-pr-9", { trigger: { kind: "pull_request" } })],
    ["of a Repository whose pull requests get none", environmentObject("shop-api-pr-9")],
    ["of no Repository", environmentObject("shop-pr-9")],
    ["that only begins like one", environmentObject("shop-admin-pr-9-b")],
  ])("is free %s", async (_what, object) => {
    expect(await admin.create(dryRun, object)).toMatchObject({ status: 201 });
  });
});

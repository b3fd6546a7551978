import { beforeAll, describe, expect, test } from "@jest/globals";
import { branchProblem } from "../../../crds/repository/branches.ts";
import { repositoryFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import type { ApiCalls } from "../../support/plane/api-calls.ts";
import { environmentObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator } from "../../support/plane/people.ts";

const plane = await controlPlane();

const TAKEN = [
  "main",
  "dependabot/npm_and_yarn/@types/node-22",
  "feature/a+b",
  "release#2",
  "größe/日本語",
  "fix/🚀",
  "@",
  "a'b\"c$&{d};e|f",
  "é".repeat(122),
  "a".repeat(244),
];
const REFUSED = [
  "--upload-pack=x",
  "a..b",
  "a@{1}",
  "x:refs/heads/y",
  "a~1",
  "a^",
  "a?",
  "a*",
  "a[",
  "a\\b",
  "",
  "a b",
  " a",
  "ab",
  "ab",
  "a\nb",
  ".a",
  "a/.b",
  "a//b",
  "/a",
  "a/",
  "a.",
  "a.lock",
  "a.lock/b",
  "HEAD",
  "a".repeat(245),
  `${"é".repeat(122)}a`,
  "a‮b",
  "a⁦b",
  "a​b",
  "a­b",
  "a\xA0b",
  "a　b",
  "aᅟb",
  "a⠀b",
  "a️b",
  "a󠁡b",
  "ab",
  "a�b",
  "a\ud83d",
];

const environment = (branch: string) => environmentObject("shop", { backend: { repository: "shop-api", branch } });
function repository(defaultBranch: string): object {
  const { apiVersion, kind, spec } = repositoryFixture();
  return { apiVersion, kind, metadata: { name: "shop-api" }, spec: { ...spec, defaultBranch } };
}

describe("the API server judges a branch as the REST API does, and", () => {
  let admin: ApiCalls;
  beforeAll(async () => {
    admin = administrator(plane);
  }, 60_000);

  async function verdicts(branch: string) {
    const made = await admin.create(`${paths.environments}?dryRun=All`, environment(branch));
    const registered = await admin.create(`${paths.repositories}?dryRun=All`, repository(branch));
    return { made: made.status, registered: registered.status, isFine: branchProblem(branch) === undefined };
  }

  test.each(TAKEN)("takes %j", async (branch) => {
    expect(await verdicts(branch)).toEqual({ made: 201, registered: 201, isFine: true });
  });

  test.each(REFUSED)("refuses %j", async (branch) => {
    expect(await verdicts(branch)).toEqual({ made: 422, registered: 422, isFine: false });
  });
});

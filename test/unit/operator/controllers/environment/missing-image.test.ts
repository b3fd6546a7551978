import { expect, test } from "@jest/globals";
import { remedyOf } from "../../../../../operator/controllers/environment/diagnosis.ts";
import type { PodProblem } from "../../../../../operator/ports/pods.ts";
import { commitA, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const merge = "fedcba9876543210fedcba9876543210fedcba98";
const problem = { reason: "ImagePullFailed", component: "backend", remedy: "push it" } as PodProblem;
const shop = (head: string, tag = commitA) =>
  environmentFixture({
    spec: {
      backend: { repository: "shop-api", branch: "main", commit: commitA, mergeCommit: { head, commit: merge } },
    },
    status: {
      sources: { backend: { applied: { branch: "main", commit: commitA, image: `registry.test/api:${tag}` } } },
    },
  });

test("an image that is not there is said with both commits, where a pull request has two", () => {
  expect(remedyOf(problem, shop(commitA))).toBe(
    "there is no image for head commit aaaaaaaa; if the pipeline builds the merge commit fedcba98, use {mergeCommit} in image.tagTemplate of the Repository; else push it",
  );
});

test("an image that is not there is said with both commits, too, where no label says whose pods pull it", () => {
  const unlabelled = { ...problem, isUnlabelled: true };
  const what = (image: string) => ({ ...unlabelled, what: `image '${image}' can't be pulled` });
  expect(remedyOf(what(`registry.test/api:${commitA}`), shop(commitA))).toMatch(/^there is no image for head commit/);
  expect(remedyOf(what("docker.io/redis:7"), shop(commitA))).toBe("push it");
});

test.each([
  ["of another problem", { ...problem, reason: "CrashLoop" } as PodProblem, shop(commitA)],
  ["of a part of the chart", { ...problem, component: "worker" }, shop(commitA)],
  ["where the merge is another head's", problem, shop("b".repeat(40))],
  ["where the tag has the merge already", problem, shop(commitA, `sha-${merge.slice(0, 7)}`)],
  ["where there is no merge", problem, environmentFixture()],
])("the remedy %s stays", (_name, of, environment) => {
  expect(remedyOf(of, environment)).toBe("push it");
});

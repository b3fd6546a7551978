import { describe, expect, test } from "@jest/globals";
import { type Build, isMovingTag, missingPlaceholder, tagOf } from "../../../../crds/repository/image-tag.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const mergeCommit = "fedcba9876543210fedcba9876543210fedcba98";
const build: Build = { branch: "main", commit, pullRequest: 7, pipeline: 1001, mergeCommit };

describe("the tag of a build", () => {
  test.each([
    ["{commit}", "main", commit],
    ["sha-{short}", "main", "sha-01234567"],
    ["sha-{commit:7}", "main", "sha-0123456"],
    ["{commit:40}", "main", commit],
    ["sha-{mergeCommit:7}", "main", "sha-fedcba9"],
    ["{mergeCommit}", "main", mergeCommit],
    ["pr-{pullRequest}", "main", "pr-7"],
    ["{branch}-{pipeline}.{commit:12}", "feature/log-in", "feature-log-in-1001.0123456789ab"],
    ["{branch}.{branch}", "a/b/c", "a-b-c.a-b-c"],
    ["latest", "main", "latest"],
    ["{branch}", "dependabot/npm_and_yarn/@types/node-22", "dependabot-npm_and_yarn-types-node-22"],
    ["v-{branch}", "größe/a+b#$&{commit}", "v-gr-e-a-b-commit-"],
  ])("%s of %s", (template, branch, expected) => {
    expect(tagOf(template, { ...build, branch })).toBe(expected);
    expect(missingPlaceholder(template, build)).toBeUndefined();
  });

  test.each([
    ["pr-{pullRequest}", "pullRequest"],
    ["{commit}-{pipeline}", "pipeline"],
    ["sha-{mergeCommit:7}", "mergeCommit"],
  ])("%s is not known without its %s", (template, missing) => {
    const unknown = { branch: "main", commit };
    expect(missingPlaceholder(template, unknown)).toBe(missing);
    expect(tagOf(template, unknown)).toContain("{");
  });
});

describe("a tag", () => {
  test.each(["latest", "{branch}", "pr-{pullRequest}", "{branch}-dev"])("as %s moves from commit to commit", (tag) => {
    expect(isMovingTag(tag)).toBe(true);
  });

  test.each(["{commit}", "{commit:7}", "{short}", "{branch}-{short}", "{pipeline}", "{mergeCommit}"])(
    "as %s is another one for every commit",
    (tag) => {
      expect(isMovingTag(tag)).toBe(false);
    },
  );
});

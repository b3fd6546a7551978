import { beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { image, rendered, settings } from "./rendered-platform.ts";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

/** The names of the Jobs and the pod that run the checks. */
async function checksWith(given: object = {}): Promise<string[]> {
  const objects = await rendered(given);
  return objects.filter(({ kind }) => kind === "Job" || kind === "Pod").map(({ metadata }) => metadata.name);
}

describe("the Jobs and the pod of the checks", () => {
  let before: readonly string[];

  beforeAll(async () => {
    await helmProgram();
    before = await checksWith();
  }, 30 * 60_000);

  test("have the same names when nothing has changed, and say what they are for", async () => {
    expect(await checksWith()).toEqual(before);
    expect(before.map((name) => name.replace(/-[0-9a-f]{8}$/, "")).sort()).toEqual([
      "platform-check-1",
      "platform-removal",
      "platform-test",
    ]);
  });

  test.each([
    ["another image", { image: { ...image, digest } }],
    ["other limits", { check: { resources: { limits: { memory: "1Gi" } } } }],
    ["another place for their pods", { operator: { nodeSelector: { pool: "system" } } }],
    ["other settings, which they check", { settings: { ...settings, publicUrl: "https://platform.example.test" } }],
  ])("have other names with %s", async (_, given) => {
    const after = await checksWith(given);
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
  });
});

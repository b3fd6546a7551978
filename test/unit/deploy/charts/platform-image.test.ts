import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import packageJson from "../../../../package.json" with { type: "json" };
import { rendered } from "./rendered-platform.ts";

const repository = "registry.example.test:5000/team/platform";
const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

async function podsWith(image: object) {
  const deployment = (await rendered({ image: { repository, ...image } })).find(({ kind }) => kind === "Deployment");
  return parse(JSON.stringify(deployment)).spec.template.spec;
}

describe("the image of the platform's pods", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test.each([
    ["is that of the chart's version where nothing is said", {}, `${repository}:${packageJson.version}`],
    ["is that of the tag", { tag: "1.2.3-rc.1" }, `${repository}:1.2.3-rc.1`],
    ["is that of the digest", { digest }, `${repository}@${digest}`],
    ["is that of the digest, whatever the tag says", { tag: "1.2.3", digest }, `${repository}@${digest}`],
  ])("%s", async (_, values, expected) => {
    expect((await podsWith(values)).containers[0].image).toBe(expected);
  });

  test("is pulled where it is missing, or as the values say", async () => {
    expect((await podsWith({})).containers[0].imagePullPolicy).toBe("IfNotPresent");
    expect((await podsWith({ pullPolicy: "Never" })).containers[0].imagePullPolicy).toBe("Never");
  });

  test("is pulled with the Secrets that are named", async () => {
    const pullSecrets = [{ name: "registry" }, { name: "mirror" }];
    expect((await podsWith({ pullSecrets })).imagePullSecrets).toEqual(pullSecrets);
    expect(await podsWith({})).not.toHaveProperty("imagePullSecrets");
  });

  test.each([
    ["a repository with a tag", { repository: `${repository}:1` }, /repository/],
    ["a repository with a scheme", { repository: `https://${repository}` }, /repository/],
    ["a digest of another kind", { digest: "md5:0123" }, /digest/],
    ["a tag that is none", { tag: "a b" }, /tag/],
    ["a policy that Kubernetes does not know", { pullPolicy: "Sometimes" }, /pullPolicy/],
    ["names of Secrets as text", { pullSecrets: ["registry"] }, /pullSecrets/],
    ["an unknown value", { name: "platform" }, /name/],
  ])("refuses %s", async (_, values, words) => {
    await expect(podsWith(values)).rejects.toThrow(words);
  });

  test("is not named twice: operator.image is no value any more", async () => {
    await expect(rendered({ operator: { image: "registry.example.test/platform:1" } })).rejects.toThrow(/image/);
  });
});

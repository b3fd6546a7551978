import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../crds/ephemeral-environment.ts";
import { StatusDrafts } from "../../../../operator/environment/status-drafts.ts";
import { environmentFixture } from "../../../support/environment-fixture.ts";

const environment = environmentFixture({ status: { phase: "creating" } });
const found: EnvironmentStatus = { phase: "ready", podSecrets: ["made"] };
const later = { ...environment, metadata: { ...environment.metadata, resourceVersion: "later" } };

async function unstored(): Promise<StatusDrafts> {
  const drafts = new StatusDrafts();
  const refused = drafts.store(environment, found, () => Promise.reject(new Error("refused")));
  await expect(refused).rejects.toThrow("refused");
  return drafts;
}

describe("what a pass found out", () => {
  test("and could not store is what the next one begins with", async () => {
    expect((await unstored()).continued(environment)).toEqual({ ...environment, status: found });
  });

  test("counts for nothing once the environment changed", async () => {
    expect((await unstored()).continued(later)).toBe(later);
  });

  test("is the API server's to tell once it is stored", async () => {
    const drafts = await unstored();
    await drafts.store(environment, found, async () => undefined);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("goes with the environment", async () => {
    const drafts = await unstored();
    drafts.forget(environment.metadata.name);
    expect(drafts.continued(environment)).toBe(environment);
  });
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Settings } from "../../../../config/settings.ts";
import { identityProviderOf } from "../../../../operator/wiring/technologies.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "identity-key-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function started(key: string) {
  const apiKeyFile = join(folder, "key");
  await writeFile(apiKeyFile, key);
  const settings = { api: { identityProvider: { kind: "google", apiKeyFile } } } as unknown as Settings;
  return identityProviderOf(settings, new TestClock());
}

test("a key is read from its file, its last line break aside", async () => {
  expect(await started("AIzaSyA-1_b\n")).toBeDefined();
});

test.each(["", "\n", "hunter2\nhunter3", "hunter2\r\nX-Other: 1", "hunter2 hunter3", "hunter2\u0000", "x".repeat(300)])(
  "what is no key is refused at the start, without showing it: %j",
  async (key) => {
    const error = await started(key).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain("holds no API key");
    expect(String(error)).not.toMatch(/hunter|xxx/);
  },
);

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { type Client, createClient, PlatformError } from "../../clients/sdk/index.ts";
import { site, stateFolder, tokens } from "../support/site.ts";

/** The accounts of the local identity provider in the tests. */
export const PEOPLE = {
  developer: "dev@example.test",
  maintainer: "maintainer@example.test",
  admin: "admin@example.test",
} as const;
export type Person = keyof typeof PEOPLE;

interface Fixtures {
  /** The browser's complaints. At the end of each test only expected ones are allowed. */
  readonly complaints: Complaints;
}

/** Tests in quick succession exceed the request limit. The page waits, and is complete all the same. */
const LIMITED = /status of 429/;

export class Complaints {
  readonly said: string[] = [];
  readonly #expected: RegExp[] = [LIMITED];

  /** Allows the browser's message about a provoked failure. */
  expect(text: RegExp): void {
    this.#expected.push(text);
  }

  get unexpected(): readonly string[] {
    return this.said.filter((text) => !this.#expected.some((pattern) => pattern.test(text)));
  }
}

export const test = base.extend<Fixtures>({
  complaints: [
    async ({ page }, use) => {
      const complaints = new Complaints();
      page.on("console", (message) => {
        // Includes violations of the content policy.
        if (["error", "warning"].includes(message.type())) complaints.said.push(message.text());
      });
      page.on("pageerror", (error) => complaints.said.push(error.message));
      await use(complaints);
      expect(complaints.unexpected).toEqual([]);
    },
    { auto: true },
  ],
});

/** The browser's message about a page without a session, for two refused requests. */
const WITHOUT_SESSION = /status of 401/;

export async function signIn(page: Page, complaints: Complaints, person: Person): Promise<void> {
  complaints.expect(WITHOUT_SESSION);
  await page.goto("/console/");
  await page.getByRole("link", { name: "Sign in" }).click();
  await enterPassword(page, person);
  await expect(page.getByRole("link", { name: "New environment" })).toBeVisible();
}

export async function enterPassword(page: Page, person: Person): Promise<void> {
  const passwords = JSON.parse(readFileSync(join(stateFolder, "identity-provider/passwords.json"), "utf8"));
  await page.getByLabel("E-mail").fill(PEOPLE[person]);
  await page.getByLabel("Password").fill(passwords[PEOPLE[person]]);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** The REST interface by the typed client, for a test's set-up and clean-up. */
export const asDeveloper: Client = createClient({ url: site.apiUrl, token: tokens.developer });
export const asAdministrator: Client = createClient({ url: site.apiUrl, token: tokens.administrator });

export const ownName = (purpose: string) => `e2e-${purpose}-${randomBytes(4).toString("hex")}`;

/** Deletes an environment, and waits until it is gone; a missing one is fine. */
export async function removeEnvironment(name: string): Promise<void> {
  const path = { environment_id: name };
  try {
    await asAdministrator.call("PATCH /api/v2/environments/{environment_id}", { path, body: { protected: false } });
    await asAdministrator.call("DELETE /api/v2/environments/{environment_id}", { path });
    for await (const _ of asAdministrator.follow("GET /api/v2/environments/{environment_id}/stream", { path }));
  } catch (error) {
    if (!(error instanceof PlatformError) || ![404, 409].includes(error.status)) throw error;
  }
}

/** Creates an environment of the samples by the interface, and waits until it is ready. */
export async function makeReady(name: string): Promise<void> {
  const sources = { backend_repo: "sample-backend", backend_branch: "main", frontend_repo: "sample-frontend" };
  await asDeveloper.call("POST /api/v2/environments", { body: { environment_name: name, ...sources, ttl: 2 } });
  const path = { environment_id: name };
  for await (const { data } of asDeveloper.follow("GET /api/v2/environments/{environment_id}/stream", { path })) {
    if (data.status === "ready") return;
    if (data.status === "failed") throw new Error(`${name} failed: ${JSON.stringify(data.conditions)}`);
  }
  throw new Error(`${name} went before it was ready`);
}

/** Checks all rules of WCAG 2.2 AA that axe knows. */
export async function expectAccessible(page: Page): Promise<void> {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  expect(found).toEqual([]);
}

/** Checks that nothing is wider than the screen, which axe does not check (WCAG 1.4.10). */
export async function expectNoOverflow(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
}

export function screenshot(name: string): string {
  const folder = join(stateFolder, "screenshots");
  mkdirSync(folder, { recursive: true });
  return join(folder, `${name}.png`);
}

export { expect };

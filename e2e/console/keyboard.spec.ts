import type { Page } from "@playwright/test";
import { expect, ownName, removeEnvironment, signIn, test } from "./support.ts";

const name = ownName("keys");
test.afterAll(() => removeEnvironment(name));

const MOST_PRESSES = 60;

/** Presses Tab until that is reached, as a person without a mouse. */
async function tabTo(page: Page, role: Parameters<Page["getByRole"]>[0], label: string): Promise<void> {
  const target = page.getByRole(role, { name: label, exact: true });
  for (let presses = 0; presses < MOST_PRESSES; presses += 1) {
    await page.keyboard.press("Tab");
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`'${label}' can't be reached by keyboard`);
}

test("an environment is created without a mouse", async ({ page, complaints }) => {
  await signIn(page, complaints, "developer");
  await page.reload();
  await expect(page.getByRole("link", { name: "New environment" })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await tabTo(page, "link", "New environment");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "New environment" })).toBeFocused();
  await expect(page.getByLabel("Name", { exact: true })).toBeVisible();
  await page.keyboard.press("Tab");
  await page.keyboard.type(name);
  await page.keyboard.press("Tab");
  await page.keyboard.type("sample-b");
  await page.keyboard.press("Tab");
  await page.keyboard.type("main");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name, level: 1 })).toBeFocused();

  await tabTo(page, "button", "Delete…");
  await page.keyboard.press("Enter");
  await expect(page.getByLabel(`Type “${name}” to go on`)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Delete…" })).toBeFocused();
});

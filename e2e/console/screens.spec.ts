import { join } from "node:path";
import type { Page } from "@playwright/test";
import { site, stateFolder } from "../support/site.ts";
import {
  asAdministrator,
  expect,
  expectAccessible,
  expectNoOverflow,
  makeReady,
  ownName,
  removeEnvironment,
  screenshot,
  signIn,
  test,
} from "./support.ts";

const name = ownName("screens");
const configSet = ownName("set");

const event = ownName("event");
let delivery = "";

const screens = (): Readonly<Record<string, readonly [path: string, text: string | RegExp]>> => ({
  environments: ["/console/", name],
  "nothing found": ["/console/?search=there-is-none", "No environment matches"],
  "new environment": ["/console/new", "The same on the command line"],
  environment: [`/console/environments/${name}`, /healthy, \d+ ms/],
  logs: [`/console/environments/${name}/logs`, /[1-9]\d* line/],
  deployer: [`/console/environments/${name}/logs/argocd`, /[1-9]\d* line/],
  history: [`/console/environments/${name}/history`, "Created"],
  gone: ["/console/environments/there-is-none", "There is no such environment"],
  "config sets": ["/console/config-sets", configSet],
  "config set": [`/console/config-sets/${configSet}`, "Save as a new version"],
  repositories: ["/console/repositories", "sample-backend"],
  repository: ["/console/repositories/sample-backend", "Default branch"],
  webhooks: ["/console/webhooks", event],
  webhook: [`/console/webhooks/${delivery}`, "it came without authentication"],
  tokens: ["/console/tokens", /No tokens|svc_/],
  costs: ["/console/costs", "By repository"],
  insights: ["/console/insights", "By repository"],
  platform: ["/console/status", "Service levels"],
  "no such screen": ["/console/none", "There is no such screen"],
});

const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 860 }, person: "admin" },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 860 }, person: "maintainer" },
  narrow: { colorScheme: "light", viewport: { width: 320, height: 700 }, person: "admin" },
} as const;

test.beforeAll(async () => {
  await asAdministrator.call("POST /api/v2/config-sets", {
    body: { name: configSet, description: "A small copy for reviews", env: [{ name: "LOG_LEVEL", value: "debug" }] },
  });
  await fetch(`${site.apiUrl}/api/webhooks/generic`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ event, message: "for the pictures" }),
  });
  const { items } = await asAdministrator.call("GET /api/v2/webhooks/deliveries", { query: { source: "generic" } });
  delivery = items.find(({ event_name }) => event_name === event)?.id ?? "none of that event";
  await makeReady(name);
});
test.afterAll(async () => {
  await removeEnvironment(name);
  await asAdministrator.call("DELETE /api/v2/config-sets/{id}", { path: { id: configSet } });
});

for (const [look, { person, ...options }] of Object.entries(LOOKS)) {
  test(`every screen is complete, accessible and fits: ${look}`, async ({ page, complaints }) => {
    // The screen of a missing environment.
    complaints.expect(/status of 404/);
    await page.emulateMedia({ colorScheme: options.colorScheme });
    await page.setViewportSize(options.viewport);
    await signIn(page, complaints, person);
    for (const [screen, [path, text]] of Object.entries(screens())) {
      await test.step(screen, () => expectScreen(page, { path, text, picture: `${screen} ${look}` }));
    }
  });
}

interface ExpectedScreen {
  readonly path: string;
  readonly text: string | RegExp;
  /** The file name of its picture. */
  readonly picture: string;
}

async function expectScreen(page: Page, { path, text, picture }: ExpectedScreen): Promise<void> {
  await page.goto(path);
  await expect(page.getByRole("main")).toContainText(text);
  await expect(page.locator(".waiting")).toHaveCount(0);
  await expectNoOverflow(page);
  await expectAccessible(page);
  await page.screenshot({ path: screenshot(picture.replaceAll(" ", "-")), fullPage: true });
}

test("every dialog is accessible and fits", async ({ page, complaints }) => {
  await page.setViewportSize(LOOKS.narrow.viewport);
  await signIn(page, complaints, "admin");
  const dialogs = [
    [`/console/environments/${name}`, "Extend…"],
    [`/console/environments/${name}`, "Hours…"],
    [`/console/environments/${name}`, "Delete…"],
    ["/console/tokens", "New token"],
    ["/console/config-sets", "New config set"],
  ] as const;
  for (const [path, opener] of dialogs) {
    await page.goto(path);
    const button = page.getByRole("button", { name: opener });
    await button.click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await expectNoOverflow(page);
    await expectAccessible(page);
    await page.screenshot({ path: screenshot(`dialog-${opener.replaceAll(/\W+/g, "-")}`) });
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(button).toBeFocused();
  }
});

test("the picture of the README is made", async ({ page, complaints }) => {
  await page.setViewportSize({ width: 1240, height: 640 });
  // The first environment of a local cluster; it may be asleep.
  const hello = { path: { environment_id: "hello" }, body: { suspended: false } };
  await asAdministrator.call("PATCH /api/v2/environments/{environment_id}", hello);
  await signIn(page, complaints, "maintainer");
  await page.getByRole("link", { name: "hello", exact: true }).click();
  await expect(page.getByRole("main")).toContainText(/healthy, \d+ ms/);
  await page.screenshot({ path: screenshot("readme") });
  // For `make screenshot`; other runs leave the sources unchanged.
  if (process.env.KEEP_PICTURE) await page.screenshot({ path: join(stateFolder, "../docs/console.png") });
});

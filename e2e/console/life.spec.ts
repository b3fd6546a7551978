import { asAdministrator, expect, ownName, removeEnvironment, signIn, test } from "./support.ts";

const name = ownName("life");
test.afterAll(() => removeEnvironment(name));

test("a developer signs in, creates an environment, watches it become ready, uses it and deletes it", async ({
  page,
  context,
  complaints,
}) => {
  // The event stream of a deleted environment.
  complaints.expect(/status of 404/);
  await signIn(page, complaints, "developer");
  const cookies = await context.cookies();
  expect(cookies.filter(({ httpOnly }) => !httpOnly)).toEqual([]);
  // No token is in the page's reach.
  expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(["", 0, 0]);

  await page.getByRole("link", { name: "New environment" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Backend", { exact: true }).selectOption("sample-backend");
  await page.getByLabel("Branch", { exact: true }).fill("main");
  await page.getByLabel("Frontend", { exact: true }).selectOption("sample-frontend");
  await page.getByLabel("Hours").fill("2");
  await page.getByText("More").click();
  await page.getByLabel("Database").selectOption("yes");
  await expect(page.locator(".command")).toContainText(`eenv create ${name}`);
  await page.getByRole("button", { name: "Create" }).click();

  await expect(page.getByRole("heading", { name, level: 1 })).toBeFocused();
  await expect(page.getByRole("status")).toHaveText(`${name} is being created`);
  const about = page.locator(".about");
  await expect(about).toContainText("ready", { timeout: 180_000 });
  const steps = page.getByRole("region", { name: "Steps" }).getByRole("listitem");
  await expect(steps.filter({ hasText: "Application" })).toContainText(/done.*\d s/);
  const addresses = page.getByRole("region", { name: "Addresses" });
  await expect(addresses.getByRole("link", { name: new RegExp(`^${name}[.]`) })).toHaveAttribute("href", /^https:/);
  await expect(addresses).toContainText(/healthy, \d+ ms.*healthy, \d+ ms/s);

  await page.getByRole("link", { name: "Logs" }).click();
  const log = page.getByRole("log");
  await expect(log.locator(".line").first()).toBeVisible();
  await page.getByRole("searchbox", { name: "Only lines with" }).fill("no line has this text");
  await expect(log.locator(".line")).toHaveCount(0);
  await page.getByRole("link", { name: "Deployer" }).click();
  await expect(page.getByRole("log", { name: "argocd" })).toBeVisible();

  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("button", { name: "Extend…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("By").selectOption("8 hours");
  await dialog.getByLabel("Reason").fill("the review takes longer");
  await dialog.getByRole("button", { name: "Extend" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Details" })).toContainText("10 h from creation");

  await page.getByRole("button", { name: "Hours…" }).click();
  await dialog.getByLabel("Hours in which it is awake").fill("Mon-Sun 00:00-24:00");
  await dialog.getByLabel("Sleeps after idle minutes").fill("soon");
  complaints.expect(/status of 400/);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByLabel("Sleeps after idle minutes")).toHaveAccessibleDescription(/must be/i);
  await dialog.getByLabel("Sleeps after idle minutes").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Details" })).toContainText("awake");

  await page.getByRole("button", { name: "Reset database…" }).click();
  await expect(dialog).toContainText("The data of now is deleted");
  await dialog.getByRole("button", { name: "Reset" }).click();
  await expect(page.getByRole("status")).toHaveText(`The database of ${name} is being made anew`);
  const path = { environment_id: name };
  const isReadyAgain = async () => {
    const { observed, status } = await asAdministrator.call("GET /api/v2/environments/{environment_id}", { path });
    return observed && status === "ready";
  };
  await expect.poll(isReadyAgain, { timeout: 120_000 }).toBe(true);

  await page.getByRole("button", { name: "Sleep" }).click();
  await expect(about).toContainText("asleep");
  await expect(addresses).toContainText("It is asleep");

  await page.getByRole("button", { name: "Delete…" }).click();
  const remove = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  await expect(remove).toBeDisabled();
  await page.getByLabel(`Type “${name}” to go on`).fill(name);
  await remove.click();
  await expect(page.getByText(`${name} is gone`)).toBeVisible({ timeout: 120_000 });
});

test("the platform's error stands in its words at the field, and stays", async ({ page, complaints }) => {
  await signIn(page, complaints, "developer");
  complaints.expect(/status of 40/);
  await page.getByRole("link", { name: "New environment" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Not_A_Name");
  await page.getByLabel("Backend", { exact: true }).selectOption("sample-backend");
  await page.getByLabel("Branch", { exact: true }).fill("main");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.getByRole("alert")).toContainText("environment_name");
  const field = page.getByLabel("Name", { exact: true });
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(/Must/);
  await expect(field).toHaveValue("Not_A_Name");
});

import { FAR_HOURS } from "../support/far-hours.ts";
import { list } from "../support/kubectl.ts";
import {
  asDeveloper,
  expect,
  expectAccessible,
  expectNoOverflow,
  makeReady,
  ownName,
  removeEnvironment,
  screenshot,
  test,
} from "./support.ts";

// The browser does not know the local authority.
test.use({ ignoreHTTPSErrors: true });

const name = ownName("asleep");
test.afterAll(() => removeEnvironment(name));

/** Lets it sleep, and waits until no Ingress of it answers any more. */
async function letSleep(): Promise<void> {
  const path = { environment_id: name };
  await asDeveloper.call("PATCH /api/v2/environments/{environment_id}", { path, body: { sleep: FAR_HOURS } });
  const left = () => list("pods,ingresses", `--namespace=env-${name}`);
  await expect.poll(left, { timeout: 60_000 }).toEqual([]);
}

test("who opens a sleeping environment sees how it wakes, and then the application", async ({ page, complaints }) => {
  await makeReady(name);
  await letSleep();
  // The page itself, and what it asks while the environment wakes.
  complaints.expect(/status of (502|503)/);
  await page.goto(`https://${name}.env.localhost:18443/`);
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText(`${name} is waking up`);
  await expectAccessible(page);
  await page.screenshot({ path: screenshot("gate-light") });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 320, height: 640 });
  await expectNoOverflow(page);
  await page.screenshot({ path: screenshot("gate-dark") });
  await expect(title).toHaveText(`Environment ${name}`, { timeout: 120_000 });
});

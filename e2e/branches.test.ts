import { afterAll, expect, jest, test } from "@jest/globals";
import { creation, Environments, untilReady } from "./support/environments.ts";
import { open } from "./support/page.ts";
import { platform } from "./support/platform.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

test("both components of an environment of the branch feature/cart answer differently from those of main", async () => {
  const cart = environments.name("cart");
  const main = environments.name("main");
  const branches = { backend_branch: "feature/cart", frontend_branch: "feature/cart" };
  await createWith(cart, branches);
  await createWith(main, {});
  const [ofCart, ofMain] = await Promise.all([replies(cart), replies(main)]);
  expect(ofCart.backend).toMatchObject({ component: "backend", features: ["cart"] });
  expect(ofCart.frontend).toContain("Your cart is empty.");
  expect(ofMain.backend).toMatchObject({ component: "backend", features: [] });
  expect(ofMain.frontend).not.toContain("Your cart is empty.");
});

async function createWith(name: string, branches: object): Promise<void> {
  await platform.call("POST /api/v2/environments", { body: { ...creation(name), ...branches } });
}

async function replies(name: string): Promise<{ backend: unknown; frontend: string }> {
  const { backend = "", frontend = "" } = (await untilReady(name)).status?.urls ?? {};
  const [one, other] = await Promise.all([open(backend), open(frontend)]);
  return { backend: JSON.parse(one.body), frontend: other.body };
}

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { asAdministrator, enterPassword, expect, signIn, test } from "./support.ts";

test("the checks of the other stories see what is wrong", async ({ page, complaints }) => {
  await signIn(page, complaints, "developer");
  complaints.expect(/Content Security Policy|TrustedHTML/i);
  const forbidden = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective));
        const style = document.createElement("style");
        style.textContent = "body { color: red }";
        document.head.append(style);
      }),
  );
  expect(forbidden).toBe("style-src-elem");
  // Trusted types: text never becomes markup.
  const thrown = await page.evaluate(() => {
    try {
      document.body.innerHTML = "<img src=x>";
      return "let through";
    } catch (error) {
      return (error as Error).name;
    }
  });
  expect(thrown).toBe("TypeError");
  expect(complaints.said.join("\n")).toMatch(/style-src/);
});

test("an API token's value is shown to its maker once", async ({ page, complaints }) => {
  await signIn(page, complaints, "admin");
  await page.getByRole("link", { name: "API tokens" }).click();
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Name", { exact: true }).fill("made in the console");
  await page.getByLabel("Read environments").check();
  await page.getByRole("button", { name: "Create" }).click();
  const value = page.getByRole("region", { name: "made in the console is there" }).locator("code");
  await expect(value).toHaveText(/^svc_/);
  const shown = (await value.textContent()) ?? "";
  await page.reload();
  const row = page
    .getByRole("row", { name: /made in the console/ })
    .filter({ hasText: "active" })
    .first();
  await expect(row).toBeVisible();
  expect(await page.content()).not.toContain(shown);

  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByRole("status")).toHaveText("made in the console is revoked");
  const { items } = await asAdministrator.call("GET /api/v2/tokens");
  expect(items.filter(({ name, status }) => name === "made in the console" && status === "active")).toEqual([]);
});

test("who signs out is signed out at both ends, and comes back to the page that was asked for", async ({
  page,
  context,
  complaints,
}) => {
  await signIn(page, complaints, "developer");
  await page.getByRole("button", { name: "Sign out" }).click();
  // The identity provider's page.
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page.getByRole("link", { name: "Sign in" })).toBeVisible();
  expect((await context.cookies()).filter(({ name }) => name.startsWith("__Host-"))).toEqual([]);

  await page.goto("/console/tokens");
  await page.getByRole("link", { name: "Sign in" }).click();
  await enterPassword(page, "developer");
  await expect(page.getByRole("heading", { name: "API tokens", level: 1 })).toBeVisible();
});

test("a page of another port, to which the browser gives the session's cookie, gets nothing", async ({
  page,
  complaints,
  baseURL,
}) => {
  await signIn(page, complaints, "developer");
  const neighbor = createServer((_request, reply) => reply.setHeader("content-type", "text/html").end("<p>a neighbor"));
  try {
    await once(neighbor.listen(0, "127.0.0.1"), "listening");
    const from = `http://localhost:${(neighbor.address() as AddressInfo).port}/`;
    const api = `${baseURL}/console/api/v2/environments`;
    complaints.expect(/CORS policy|status of 403|net::ERR_/);
    await page.goto(from);
    expect(await page.evaluate(readsFrom, api)).toEqual(["TypeError", "TypeError"]);
    // Forms have no such limits: for the browser all ports are one site, so that even a strict cookie is sent.
    for (const method of ["GET", "POST"] as const) {
      await page.goto(from);
      const answered = page.waitForResponse((response) => response.url().startsWith(api), { timeout: 20_000 });
      await page.evaluate(sendForm, { method, action: api });
      const answer = await answered;
      expect((await answer.request().allHeaders()).cookie).toContain("__Host-");
      expect(answer.status()).toBe(403);
      await page.waitForURL(`${api}**`);
    }
  } finally {
    neighbor.closeAllConnections();
    neighbor.close();
  }
});

/** The result of a page's scripts for another origin, by request mode: an answer's text, or the error's name. */
function readsFrom(url: string): Promise<string[]> {
  const modes = ["cors", "no-cors"] as const;
  const read = (mode: RequestMode) =>
    fetch(url, { mode, credentials: "include" }).then(
      (answer) => answer.text(),
      ({ name }: Error) => name,
    );
  return Promise.all(modes.map(read));
}

function sendForm({ method, action }: { readonly method: "GET" | "POST"; readonly action: string }): void {
  const form = Object.assign(document.createElement("form"), { method, action });
  document.body.append(form);
  form.submit();
}

import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Ended, eenvFile } from "../../../support/cli/command-line.ts";
import { type LogInSite, startLogInSite } from "../../../support/cli/log-in-site.ts";
import { until } from "../../../support/fixtures/until.ts";
import { Browser } from "../../../support/http/browser.ts";

let site: LogInSite;
beforeEach(async () => {
  site = await startLogInSite();
});
afterEach(() => site.stop());

/** Runs `eenv` with the credentials of a log-in alone. */
const eenv = (args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ""): Promise<Ended> =>
  site.line.spawn(process.execPath, [eenvFile, ...args], { env, input }).ended;

const credentialsFile = () => join(site.line.home, ".config/eenv/credentials.json");
const credentials = async () => JSON.parse(await readFile(credentialsFile(), "utf8"));
const stored = async () => (await credentials()).platforms[site.line.url].credential;

/** Expires the stored ID token; the refresh token stays. */
async function expire(): Promise<void> {
  const { current, platforms } = await credentials();
  const { credential } = platforms[site.line.url];
  const over = { ...credential, idToken: "over", expiresAt: "2026-01-01T00:00:00Z" };
  await writeFile(credentialsFile(), JSON.stringify({ current, platforms: { [site.line.url]: { credential: over } } }));
}

const NOT_LOGGED_IN = { code: 4, stdout: "" };

describe("eenv login", () => {
  test("logs in with the browser, over a port of this machine; the credentials are in a file of the user alone", async () => {
    expect(await eenv(["whoami"])).toMatchObject({
      ...NOT_LOGGED_IN,
      stderr: expect.stringContaining("run eenv login"),
    });
    const { code, stdout, stderr } = await eenv(["login"], site.browser);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`Logged in to ${site.line.url} as dev@example.test (developer).`);
    // Without a keychain the output says that, and names the file.
    expect(stderr).toContain(`the credentials are in ${credentialsFile()}`);
    expect((await stat(credentialsFile())).mode & 0o777).toBe(0o600);
    expect((await stat(join(credentialsFile(), ".."))).mode & 0o777).toBe(0o700);
    const who = await eenv(["whoami", "-o", "json"], { EENV_URL: "" });
    expect(JSON.parse(who.stdout)).toMatchObject({ email: "dev@example.test", auth_method: "id_token" });
  });

  test("logs in with a code that is entered in a browser elsewhere", async () => {
    const running = site.line.spawn(process.execPath, [eenvFile, "login", "--device"]);
    const requested = /Open (\S+) and enter the code (\S+)/;
    await until(() => requested.test(running.written.stderr), { what: "the code" });
    const [, address = "", user_code = ""] = requested.exec(running.written.stderr) ?? [];
    const browser = new Browser();
    const shown = await browser.submit(await browser.open(address), { user_code });
    const email = "dev@example.test";
    await browser.submit(await browser.submit(shown), { email, password: site.provider.passwords[email] ?? "" });
    expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("Logged in to") });
    expect(await eenv(["whoami", "-o", "name"])).toMatchObject({ code: 0, stdout: "dev@example.test\n" });
  });

  test("takes a token from stdin, and keeps none that the platform refuses", async () => {
    const value = await site.apiToken();
    const refused = await eenv(["login", "--with-token"], {}, "svc_nothing_of_the_kind");
    expect(refused).toMatchObject(NOT_LOGGED_IN);
    expect(await eenv(["whoami"])).toMatchObject(NOT_LOGGED_IN);
    expect(await eenv(["login", "--with-token"], {}, `${value}\n`)).toMatchObject({ code: 0 });
    expect(await eenv(["whoami", "-o", "name"])).toMatchObject({ code: 0, stdout: "vie@example.test\n" });
  });

  test("a log-in is renewed once, however many commands need it: a second use would end it", async () => {
    await eenv(["login"], site.browser);
    const before = (await stored()).refreshToken;
    await expire();
    const together = await Promise.all(Array.from({ length: 4 }, () => eenv(["whoami", "-o", "name"])));
    expect(together.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect((await stored()).refreshToken).not.toBe(before);
    await expire();
    expect(await eenv(["whoami"])).toMatchObject({ code: 0 });
    expect((await stat(credentialsFile())).mode & 0o777).toBe(0o600);
  });

  test("a log-out forgets the credentials, and ends the log-in at its issuer", async () => {
    await eenv(["login"], site.browser);
    await expire();
    const before = await readFile(credentialsFile(), "utf8");
    expect(await eenv(["logout"])).toMatchObject({ code: 0, stdout: "" });
    expect(await readFile(credentialsFile(), "utf8")).not.toContain("refreshToken");
    expect(await eenv(["whoami"])).toMatchObject(NOT_LOGGED_IN);
    await writeFile(credentialsFile(), before);
    expect(await eenv(["whoami"])).toMatchObject({
      ...NOT_LOGGED_IN,
      stderr: expect.stringContaining("invalid_grant"),
    });
  });

  test("keeps credentials in the secret service where there is one; they are no arguments", async () => {
    const program = join(site.line.home, "secret-tool");
    await writeFile(program, SECRET_TOOL);
    await chmod(program, 0o755);
    const desktop = {
      PATH: `${site.line.home}:${process.env.PATH}`,
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere",
      KEYRING: join(site.line.home, "keyring"),
    };
    const value = await site.apiToken();
    const { stderr } = await eenv(["login", "--with-token"], desktop, value);
    expect(stderr).not.toContain("which only you can read");
    expect(await readFile(credentialsFile(), "utf8")).not.toContain(value);
    expect(await eenv(["whoami", "-o", "name"], desktop)).toMatchObject({ code: 0, stdout: "vie@example.test\n" });
    expect(await readFile(`${desktop.KEYRING}.calls`, "utf8")).not.toMatch(new RegExp(`${value}|${btoa(value)}`));
    expect(await eenv(["logout"], desktop)).toMatchObject({ code: 0 });
    expect(await readFile(desktop.KEYRING, "utf8")).toBe("");
  });
});

/** Stands in for secret-tool(1), with a file as the secret service; records its arguments. */
const SECRET_TOOL = `#!/bin/sh
echo "$@" >> "$KEYRING.calls"
case "$1" in
  store) cat > "$KEYRING" ;;
  lookup) cat "$KEYRING" ;;
  clear) : > "$KEYRING" ;;
esac
`;

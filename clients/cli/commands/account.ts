import { buildCommand } from "@stricli/core";
import { type CurrentUser, createClient } from "../../sdk/index.ts";
import { isLoopback, platformUrl } from "../auth/addresses.ts";
import { openInBrowser } from "../auth/browser.ts";
import { bearerOf, type Credential, isToken, type LoginCredential } from "../auth/credential.ts";
import { chosen, loginOptions } from "../auth/login-options.ts";
import type { Context } from "../context.ts";
import { misuse } from "../failure.ts";
import { plainLine } from "../output/plain.ts";
import { type OutputFlags, print } from "../output/print.ts";
import { documented, off, optionalText, outputAliases, outputFlags } from "../parameters.ts";

interface LoginFlags {
  readonly url?: string | undefined;
  readonly issuer?: string | undefined;
  readonly device: boolean;
  readonly withToken: boolean;
}

async function logIn(this: Context, flags: LoginFlags): Promise<void> {
  const url = flags.url === undefined ? this.accounts.url() : platformUrl(flags.url);
  if (url.startsWith("http:") && !isLoopback(new URL(url))) this.say(`${url} has no TLS: others may read the token.`);
  const credential = flags.withToken ? await tokenFrom(this) : await atIssuer(this, url, flags);
  const platform = createClient({ url, token: bearerOf(credential) });
  // Stored only after the platform accepted it.
  const user = await platform.call("GET /api/v2/auth/user", { signal: this.interrupted });
  const { store } = this.accounts;
  await store.alone(() => store.write(url, credential));
  this.say(`Logged in to ${url} as ${nameOf(user)} (${user.roles.join(", ")}).`);
}

/** Not an argument: every process could see it. */
async function tokenFrom({ process, say }: Context): Promise<Credential> {
  if (process.stdin.isTTY) say("Paste the token, then press Enter and Ctrl-D.");
  const { text } = await import("node:stream/consumers");
  const token = (await text(process.stdin)).trim();
  if (!isToken(token)) throw misuse("stdin has no token");
  return { kind: "token", token };
}

async function atIssuer(context: Context, url: string, { issuer, device }: LoginFlags): Promise<Credential> {
  const { interrupted, say, process } = context;
  const { from, flow } = chosen(await loginOptions(url, interrupted), { issuer, device });
  const login = { issuer: from.issuer, clientId: from.client_id, scopes: from.scopes };
  if (flow === "device") {
    const { loginByDevice } = await import("../auth/device.ts");
    return loginByDevice(login, { say, interrupted });
  }
  const { loginByLoopback } = await import("../auth/loopback.ts");
  const open = (address: URL) => {
    const elsewhere = from.flows.includes("device") ? " Where this machine has none: eenv login --device." : "";
    say(`Log in with your browser.${elsewhere} If it does not open:\n\n  ${address.href}\n`);
    return openInBrowser(address, process.env);
  };
  return loginByLoopback(login, { open, interrupted });
}

const nameOf = ({ email, name, id }: CurrentUser) => plainLine(email || name || id);

/** `eenv login`. */
export const login = buildCommand<LoginFlags, [], Context>({
  func: logIn,
  parameters: {
    flags: {
      url: optionalText("Where the platform is (default: EENV_URL, or the last one)", "url"),
      issuer: optionalText("At which issuer, where the platform has several", "url"),
      device: off("Without a browser on this machine: enter a code in one elsewhere"),
      withToken: off("Take an API token from stdin"),
    },
  },
  docs: documented(
    "Log in to a platform",
    ["login --url https://eenv.example.com", "login --device", "login --with-token < token.txt"],
    "The credentials are kept in the system's keychain where there is one, else in a file that only you can read.",
  ),
});

async function logOut(this: Context): Promise<void> {
  const url = this.accounts.url();
  const { store } = this.accounts;
  const known = await store.alone(async () => {
    const credential = await store.read(url);
    await store.remove(url);
    return credential;
  });
  if (known?.kind === "login") await endAtIssuer(known, this);
  this.say(known === undefined ? `There were no credentials for ${url}.` : `Logged out of ${url}.`);
  if (this.process.env.EENV_TOKEN) this.say("EENV_TOKEN is still set.");
}

async function endAtIssuer(login: LoginCredential, { say }: Context): Promise<void> {
  const { revoke } = await import("../auth/issuer.ts");
  await revoke(login).catch((error: Error) => {
    say(
      `${plainLine(login.issuer)} could not be reached (${plainLine(error.message)}): its refresh token stays good until it expires.`,
    );
  });
}

/** `eenv logout`. */
export const logout = buildCommand<Record<never, never>, [], Context>({
  func: logOut,
  parameters: {},
  docs: documented("Forget the credentials of the platform", ["logout"]),
});

async function whoAmI(this: Context, flags: OutputFlags): Promise<void> {
  const user = await this.client().call("GET /api/v2/auth/user");
  const columns = [
    { title: "NAME", of: nameOf },
    { title: "ROLES", of: ({ roles }: CurrentUser) => roles.join(",") },
    { title: "GROUPS", of: ({ groups }: CurrentUser) => groups.join(",") },
    { title: "BY", of: ({ auth_method }: CurrentUser) => auth_method },
    { title: "SCOPES", of: ({ scopes }: CurrentUser) => scopes?.join(","), wide: true },
    { title: "PERMISSIONS", of: ({ permissions }: CurrentUser) => permissions.join(","), wide: true },
    { title: "PLATFORM", of: () => this.accounts.url() },
  ];
  await print(this, { data: user, items: [user], columns, name: nameOf }, flags);
}

/** `eenv whoami`. */
export const whoami = buildCommand<OutputFlags, [], Context>({
  func: whoAmI,
  parameters: { flags: outputFlags, aliases: outputAliases },
  docs: documented("Show who one is at the platform", ["whoami", "whoami -o json"]),
});

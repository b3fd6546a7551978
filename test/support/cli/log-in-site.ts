import { chmod, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type IdentityProvider, startIdentityProvider } from "../../../deploy/local/identity/provider.ts";
import { type CommandLine, startCommandLine } from "./command-line.ts";

/** The command line with a platform that trusts a real identity provider. */
export interface LogInSite {
  readonly line: CommandLine;
  readonly provider: IdentityProvider;
  /** Variables of a user whose browser logs in as a developer. */
  readonly browser: Readonly<Record<string, string>>;
  apiToken(): Promise<string>;
  stop(): Promise<void>;
}

const USER = "dev@example.test";
const BROWSER = resolve(import.meta.dirname, "../http/browser.ts");

/** Starts both. The platform uses the provider's clock: now. */
export async function startLogInSite(): Promise<LogInSite> {
  const provider = await startIdentityProvider({ port: 0 });
  const line = await startCommandLine({
    issuer: {
      issuer: provider.issuer,
      audience: "eenv",
      roles: { developer: ["platform-developers"], viewer: ["viewers"] },
      commandLine: { clientId: "eenv", flows: ["loopback", "device"] },
    },
  });
  const { clock } = line.service;
  clock.advance(Date.now() - clock.now().getTime());
  const program = join(line.home, "browser");
  await writeFile(program, script(provider.passwords[USER] ?? ""));
  await chmod(program, 0o755);
  return {
    line,
    provider,
    browser: { BROWSER: program },
    async apiToken() {
      const owner = { subject: `${provider.issuer}#vie`, email: "vie@example.test", name: "Vie" };
      return (await line.service.makeToken("viewer", { owner })).value;
    },
    async stop() {
      await line.stop();
      await provider.close();
    },
  };
}

const script = (password: string) => `#!${process.execPath}
import(${JSON.stringify(BROWSER)}).then(async ({ Browser }) => {
  const browser = new Browser();
  const page = await browser.open(process.argv[2]);
  await browser.submit(page, { email: ${JSON.stringify(USER)}, password: ${JSON.stringify(password)} });
});
`;

/** The operating system's store of secrets. */
export interface Keychain {
  readonly name: string;
  /** @returns undefined when there is none for the account */
  read(account: string): Promise<string | undefined>;
  /** @throws Error when it can't be stored */
  write(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

const SERVICE = "eenv";

/**
 * Keychain of this system, if there is a program for it: `security` of macOS, `secret-tool` where a desktop session
 * runs a secret service. Secrets go through standard input, because every process can see arguments.
 */
export function keychainOf(env: NodeJS.ProcessEnv): Keychain | undefined {
  if (process.platform === "darwin") return macKeychain;
  return env.DBUS_SESSION_BUS_ADDRESS ? secretService(env) : undefined;
}

const macKeychain: Keychain = {
  name: "the keychain",
  async read(account) {
    const found = await run("security", ["find-generic-password", "-s", SERVICE, "-a", account, "-w"]);
    return found.code === 0 ? decoded(found.stdout) : undefined;
  },
  async write(account, secret) {
    const command = `add-generic-password -U -s ${SERVICE} -a "${account}" -w ${encoded(secret)}\n`;
    // The program truncates longer lines.
    if (command.length > 4_000) throw new Error("the credentials are too long for it");
    const { code, stderr } = await run("security", ["-i"], { input: command });
    if (code !== 0 || stderr !== "") throw new Error(stderr.trim() || `security ended with ${code}`);
  },
  async remove(account) {
    await run("security", ["delete-generic-password", "-s", SERVICE, "-a", account]);
  },
};

function secretService(env: NodeJS.ProcessEnv): Keychain {
  const attributes = (account: string) => ["service", SERVICE, "account", account];
  return {
    name: "the secret service",
    async read(account) {
      const found = await run("secret-tool", ["lookup", ...attributes(account)], { env });
      return found.code === 0 && found.stdout !== "" ? decoded(found.stdout) : undefined;
    },
    async write(account, secret) {
      const args = ["store", `--label=eenv ${account}`, ...attributes(account)];
      const { code, stderr } = await run("secret-tool", args, { env, input: encoded(secret) });
      if (code !== 0) throw new Error(stderr.trim() || `secret-tool ended with ${code}`);
    },
    async remove(account) {
      await run("secret-tool", ["clear", ...attributes(account)], { env });
    },
  };
}

// Neither quotes nor line ends, which the programs would read as their own.
const encoded = (secret: string) => Buffer.from(secret).toString("base64url");
const decoded = (text: string) => Buffer.from(text.trim(), "base64url").toString();

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const DEADLINE_MS = 10_000;

async function run(
  program: string,
  args: readonly string[],
  { input = "", env }: { input?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { timeout: DEADLINE_MS, ...(env && { env }) });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (part) => {
      stdout += part;
    });
    child.stderr.on("data", (part) => {
      stderr += part;
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "ENOENT" ? new Error(`${program} is not installed`) : error),
    );
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

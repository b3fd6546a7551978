/** Opens a page in the user's browser, if there is one; only the user sees the result. */
export async function openInBrowser(address: URL, env: NodeJS.ProcessEnv): Promise<void> {
  // A program might take another kind of address for a command.
  if (!/^https?:$/.test(address.protocol)) throw new Error(`${address.protocol} is no page`);
  const { spawn } = await import("node:child_process");
  const [program, ...args] = launcher(env);
  // The browser must not see it.
  const { EENV_TOKEN: _, ...others } = env;
  const child = spawn(program, [...args, address.href], { stdio: "ignore", detached: true, env: others });
  child.on("error", () => undefined);
  child.unref();
}

function launcher({ BROWSER }: NodeJS.ProcessEnv): [program: string, ...args: string[]] {
  if (BROWSER) return [BROWSER];
  if (process.platform === "darwin") return ["open"];
  // Not `start`: a shell would read the address.
  return process.platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
}

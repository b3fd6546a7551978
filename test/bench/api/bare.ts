import { spawn } from "node:child_process";
import { once } from "node:events";

const PROGRAM = new URL("./bare-server.ts", import.meta.url).pathname;

/** A process that answers at once: what calls to it take is the machine's doing, and the measurement's. */
export async function startBareServer(bytes: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [PROGRAM, String(bytes)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const ends = ended.then(() => Promise.reject(new Error("the bare server ended")));
  const [port] = await Promise.race([once(child.stdout, "data"), ends]);
  ends.catch(() => undefined);
  return {
    url: `http://127.0.0.1:${String(port).trim()}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/**
 * Restarts the recorded programs of a folder when they end, until it is stopped. SIGHUP resets the restart delays. Usage:
 * supervise.ts FOLDER
 */
import { type Restart, supervise } from "./supervisor.ts";

const [folder = ""] = process.argv.slice(2);
const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopping.abort());
const restarts = new Map<string, Restart>();
process.on("SIGHUP", () => restarts.clear());

await supervise(folder, stopping.signal, (line) => console.log(new Date().toISOString(), line), { restarts });

/**
 * Starts the programs that are recorded in a folder again when they end, until it is told to stop. On SIGHUP it forgets how
 * often they ended: the next restart comes after the first delay. Usage: supervise.ts FOLDER
 */
import { type Restart, supervise } from "./supervisor.ts";

const [folder = ""] = process.argv.slice(2);
const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopping.abort());
const restarts = new Map<string, Restart>();
process.on("SIGHUP", () => restarts.clear());

await supervise(folder, stopping.signal, (line) => console.log(new Date().toISOString(), line), { restarts });

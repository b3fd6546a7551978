/**
 * Starts the programs that are recorded in a folder again when they end, until it is told to stop.
 * Usage: supervise.ts FOLDER
 */
import { supervise } from "./supervisor.ts";

const [folder = ""] = process.argv.slice(2);
const stopping = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stopping.abort());

await supervise(folder, stopping.signal, (line) => console.log(new Date().toISOString(), line));

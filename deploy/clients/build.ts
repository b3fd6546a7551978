import { cli } from "./cli.ts";
import { type ClientBuild, upToDate } from "./client-build.ts";
import { webConsole } from "./console.ts";

const clients: readonly ClientBuild[] = [cli, webConsole];

/** Builds outdated clients. @param made called with the name of each */
export async function buildClients(made: (name: string) => void = () => undefined): Promise<void> {
  for (const client of clients) if (await upToDate(client)) made(client.name);
}

import { ownDeveloper } from "./identity.ts";
import { site } from "./site.ts";

/** The messages of a followed log so far. */
export interface FollowedLog {
  readonly status: number;
  readonly messages: readonly string[];
  leave(): void;
}

/** Follows a component's log, as a user does; call `leave` at the end. */
export async function followLog(environment: string, component: string): Promise<FollowedLog> {
  const leaving = new AbortController();
  const path = `/api/v2/environments/${environment}/logs/${component}/stream`;
  const headers = { authorization: `Bearer ${ownDeveloper}` };
  const reply = await fetch(site.apiUrl + path, { headers, signal: leaving.signal });
  const messages: string[] = [];
  const read = async () => {
    let open = "";
    for await (const text of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (open + text).split("\n");
      open = lines.pop() ?? "";
      const data = lines.filter((line) => line.startsWith("data: "));
      messages.push(...data.map((line) => (JSON.parse(line.slice("data: ".length)) as { message: string }).message));
    }
  };
  // Leaving aborts the read.
  read().catch(() => undefined);
  return { status: reply.status, messages, leave: () => leaving.abort() };
}

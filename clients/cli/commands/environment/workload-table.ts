import { PlatformError } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { plainLine } from "../../output/plain.ts";
import { tableOf } from "../../output/table.ts";

/** Workloads of an environment as a table, or a line with the reason when they can't be read; empty without any. */
export async function workloadTable(context: Context, environmentId: string): Promise<string> {
  try {
    const path = { environment_id: environmentId };
    const { workloads } = await context.client().call("GET /api/v2/environments/{environment_id}/workloads", { path });
    const columns = [
      { title: "WORKLOAD", of: ({ kind, name }: (typeof workloads)[number]) => `${kind}/${name}` },
      { title: "READY", of: podsOf },
      { title: "RESTARTS", of: ({ restarts }: (typeof workloads)[number]) => restarts },
      { title: "PROBLEM", of: ({ problem }: (typeof workloads)[number]) => problem },
    ];
    return workloads.length === 0 ? "" : tableOf(workloads, columns, true);
  } catch (error) {
    // The environment is known without them.
    if (!(error instanceof PlatformError)) throw error;
    return `${plainLine(`its workloads can't be listed: ${error.message}`)}\n`;
  }
}

const podsOf = ({ pods_ready: ready, pods_desired: desired }: { pods_ready: number; pods_desired: number | null }) =>
  desired === null ? ready : `${ready}/${desired}`;

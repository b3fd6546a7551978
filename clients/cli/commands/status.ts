import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { EXIT, Failure } from "../failure.ts";
import { type OutputFlags, print } from "../output/print.ts";
import { documented, outputAliases, outputFlags } from "../parameters.ts";

interface Row {
  readonly service: string;
  readonly state: string;
}

async function run(this: Context, flags: OutputFlags): Promise<void> {
  const report = await this.client().call("GET /api/v2/status");
  const services = Object.entries(report.services).map(([service, { healthy }]) => ({
    service,
    state: healthy ? "healthy" : "unhealthy",
  }));
  const breakers = report.circuit_breakers.map(({ name, state }) => ({ service: name, state: `circuit ${state}` }));
  const items: Row[] = [{ service: `platform ${report.version}`, state: report.status }, ...services, ...breakers];
  const columns = [
    { title: "SERVICE", of: ({ service }: Row) => service },
    { title: "STATE", of: ({ state }: Row) => state },
  ];
  await print(this, { data: report, items, columns, name: ({ service }) => service }, flags);
  if (report.expirations_blocked)
    this.say("More environments are due than may be deleted unconfirmed: none is deleted.");
  if (report.status === "unhealthy") throw new Failure(EXIT.refused, "the platform is unhealthy");
}

/** `eenv status`. */
export const status = buildCommand<OutputFlags, [], Context>({
  func: run,
  parameters: { flags: outputFlags, aliases: outputAliases },
  docs: documented(
    "Show the state of the platform",
    ["status", "status -o json"],
    "It ends with 1 when it is unhealthy.",
  ),
});

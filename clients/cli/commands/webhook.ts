import { buildCommand, buildRouteMap } from "@stricli/core";
import type { RuleVerdict, WebhookDelivery } from "../../sdk/index.ts";
import type { Context } from "../context.ts";
import { EXIT, Failure } from "../failure.ts";
import { documentIn } from "../input/document.ts";
import { plainLine } from "../output/plain.ts";
import { isData, type OutputFlags, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { count, documented, off, optionalText, outputAliases, outputFlags, text } from "../parameters.ts";

const deliveryColumns: readonly Column<WebhookDelivery>[] = [
  { title: "RECEIVED", of: ({ received_at }) => received_at },
  { title: "EVENT", of: ({ event_name, action }) => [event_name, action].filter(Boolean).join(".") },
  { title: "REPOSITORY", of: ({ repositories }) => repositories.join(",") },
  { title: "NUMBER", of: ({ number }) => number },
  { title: "STATUS", of: ({ status }) => status },
  { title: "REASON", of: ({ reason }) => reason },
  {
    title: "ENVIRONMENTS",
    of: ({ environments }) => environments.map((one) => `${one.name} ${one.action}`).join(", "),
  },
  { title: "MESSAGE", of: ({ message }) => message, wide: true },
  { title: "ID", of: ({ id }) => id, wide: true },
];

function sayTrace({ say }: Context, trace: readonly RuleVerdict[]): void {
  for (const { rule, passed, repository, message } of trace) {
    const of = repository === null ? "" : ` (${plainLine(repository)})`;
    say(`${passed ? "passed" : "failed"}  ${plainLine(rule)}${of}${message === null ? "" : `: ${plainLine(message)}`}`);
  }
}

const STATUSES = ["pending", "acted", "ignored", "failed"] as const;
interface DeliveriesFlags extends OutputFlags {
  readonly repository?: string | undefined;
  readonly status?: (typeof STATUSES)[number] | undefined;
  readonly limit: number;
}

const deliveries = buildCommand<DeliveriesFlags, [id?: string], Context>({
  async func({ repository, status, limit, ...flags }, id) {
    const client = this.client();
    const name = (delivery: WebhookDelivery) => delivery.id;
    if (id !== undefined) {
      const found = await client.call("GET /api/v2/webhooks/deliveries/{id}", { path: { id } });
      await print(this, { data: found, items: [found], columns: deliveryColumns, name }, flags);
      if (!isData(flags.output)) sayTrace(this, found.trace);
      return;
    }
    const query = { limit, ...(repository && { repository }), ...(status && { status }) };
    const { items } = await client.call("GET /api/v2/webhooks/deliveries", { query });
    await print(this, { data: items, items, columns: deliveryColumns, name }, flags);
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "Id of one delivery", placeholder: "id", parse: String, optional: true }],
    },
    flags: {
      repository: optionalText("Only of this repository", "id"),
      status: { kind: "enum", values: STATUSES, brief: "Only with this outcome", optional: true },
      limit: { ...count("How many, the newest first; 100 at most"), default: "20" },
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented("Show what became of webhook deliveries, and of one by which rules", [
    "webhook deliveries --repository shop-api --status ignored",
    "webhook deliveries -o wide",
  ]),
});

interface SimulateFlags extends OutputFlags {
  readonly repository: string;
  readonly event: string;
  readonly file: string;
}

const simulate = buildCommand<SimulateFlags, [], Context>({
  async func({ repository, event, file, ...flags }) {
    const payload = await documentIn(file, this.process.stdin);
    const reply = await this.client().call("POST /api/v2/webhooks/simulate", { body: { repository, event, payload } });
    const items = reply.decisions;
    type Decision = (typeof items)[number];
    const columns = [
      { title: "DO", of: (one: Decision) => one.do },
      { title: "ENVIRONMENT", of: ({ environment }: Decision) => environment },
      { title: "REASON", of: ({ reason }: Decision) => reason },
      { title: "MESSAGE", of: ({ message }: Decision) => message },
    ];
    await print(this, { data: reply, items, columns, name: ({ environment }) => environment ?? "-" }, flags);
    if (!isData(flags.output)) sayTrace(this, reply.trace);
  },
  parameters: {
    flags: {
      repository: { ...text("Id of the repository"), placeholder: "id" },
      event: { ...text("Name of the event, as the host has it in a header: pull_request"), placeholder: "name" },
      file: { ...text("File with the payload as the host would send it, - for stdin"), placeholder: "file" },
      ...outputFlags,
    },
    aliases: { f: "file", ...outputAliases },
  },
  docs: documented("Decide on a webhook, and do nothing", [
    "webhook simulate --repository shop-api --event pull_request -f payload.json",
  ]),
});

interface CheckFlags extends OutputFlags {
  readonly repair: boolean;
}

const check = buildCommand<CheckFlags, [repository: string], Context>({
  async func({ repair, ...flags }, id) {
    const route = repair ? "POST /api/v2/repos/{id}/webhook" : "GET /api/v2/repos/{id}/webhook";
    const found = await this.client().call(route, { path: { id } });
    const items = found.problems;
    type HookProblem = (typeof items)[number];
    const columns = [
      { title: "REASON", of: ({ reason }: HookProblem) => reason },
      { title: "PROBLEM", of: ({ message }: HookProblem) => message },
      { title: "WHAT TO DO", of: ({ next_step }: HookProblem) => next_step },
    ];
    await print(this, { data: found, items, columns, name: ({ reason }) => reason }, flags);
    if (items.length > 0) throw new Failure(EXIT.refused, `events of ${id} do not arrive as they should`);
    this.say(`Events of ${id} arrive.`);
  },
  parameters: {
    positional: { kind: "tuple", parameters: [{ brief: "Id of the repository", placeholder: "id", parse: String }] },
    flags: { repair: off("Register the webhook, or repair it (maintainers)"), ...outputFlags },
    aliases: outputAliases,
  },
  docs: documented(
    "Check the webhook of a repository",
    ["webhook check shop-api", "webhook check shop-api -o json"],
    "It ends with 1 when there is a problem.",
  ),
});

/** `eenv webhook …`. */
export const webhook = buildRouteMap<"deliveries" | "simulate" | "check", Context>({
  routes: { deliveries, simulate, check },
  docs: { brief: "Webhooks of repository hosts" },
});

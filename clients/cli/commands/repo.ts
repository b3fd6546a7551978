import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Repository } from "../../sdk/index.ts";
import type { Context } from "../context.ts";
import { EXIT, Failure } from "../failure.ts";
import { plain, plainLine } from "../output/plain.ts";
import { type OutputFlags, type OutputForm, print, serialized } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { documented, optionalText, outputAliases, outputFlags } from "../parameters.ts";

const columns: readonly Column<Repository>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "TYPE", of: ({ type }) => type },
  { title: "DEFAULT BRANCH", of: ({ default_branch }) => default_branch },
  { title: "REACHABLE", of: ({ reachable }) => (reachable === null ? "not checked" : reachable ? "yes" : "no") },
  { title: "PULL REQUESTS", of: ({ pull_request }) => (pull_request.enabled ? "yes" : "no") },
  { title: "CLONE URL", of: ({ clone_url }) => clone_url, wide: true },
  { title: "GROUPS", of: ({ access }) => access.groups.join(","), wide: true },
];

const list = buildCommand<OutputFlags, [], Context>({
  async func(flags) {
    const { items, total } = await this.client().call("GET /api/v2/repos", { query: { limit: 100 } });
    await print(this, { data: items, items, columns, name: ({ id }) => id }, flags);
    if (items.length < total) this.say(`${items.length} of ${total} are shown.`);
  },
  parameters: { flags: outputFlags, aliases: outputAliases },
  docs: documented("List repositories", ["repo list", "repo list -o name"]),
});

interface Change {
  readonly id: string;
  readonly what: string;
}

const reload = buildCommand<OutputFlags, [], Context>({
  async func(flags) {
    const reply = await this.client().call("POST /api/v2/repos/reload");
    const items: Change[] = [
      ...reply.added.map((id) => ({ id, what: "added" })),
      ...reply.updated.map((id) => ({ id, what: "updated" })),
      ...reply.removed.map((id) => ({ id, what: "removed" })),
      ...reply.errors.map(({ id, message }) => ({ id, what: `error: ${message}` })),
    ];
    const shown = [
      { title: "ID", of: ({ id }: Change) => id },
      { title: "CHANGE", of: ({ what }: Change) => what },
    ];
    await print(this, { data: reply, items, columns: shown, name: ({ id }) => id }, flags);
    this.say(`${reply.loaded} repositories are valid.`);
    if (reply.errors.length > 0) throw new Failure(EXIT.refused, `${reply.errors.length} repositories have an error`);
  },
  parameters: { flags: outputFlags, aliases: outputAliases },
  docs: documented("Check all repositories now (maintainers)", ["repo reload"]),
});

interface TemplateFlags {
  readonly configSet?: string | undefined;
  readonly output: Exclude<OutputForm, "name" | "wide">;
}

const template = buildCommand<TemplateFlags, [id?: string], Context>({
  async func({ configSet, output }, repo) {
    const query = { ...(repo !== undefined && { repo }), ...(configSet !== undefined && { config_set: configSet }) };
    const reply = await this.client().call("GET /api/v2/helm/config-template", { query });
    const text = output === "table" ? plain(reply.values_yaml) : await serialized(reply, output);
    this.process.stdout.write(text);
    const needed = reply.variables.filter(({ required, default: preset }) => required && preset === null);
    if (needed.length > 0) this.say(`To be given: ${needed.map(({ name }) => plainLine(name)).join(", ")}`);
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "Id of the repository", placeholder: "id", parse: String, optional: true }],
    },
    flags: {
      configSet: optionalText("As with this config set", "name"),
      output: {
        kind: "enum",
        values: ["table", "json", "yaml"],
        default: "table",
        brief: "The values alone as YAML (table), or with variables and chart",
      },
    },
    aliases: outputAliases,
  },
  docs: documented("Print the values that environments of a repository get", [
    "repo template shop-api",
    "repo template -o json",
  ]),
});

/** `eenv repo …`. */
export const repo = buildRouteMap<"list" | "reload" | "template", Context>({
  routes: { list, reload, template },
  docs: { brief: "Repositories that environments are made from" },
});

import { buildCommand, buildRouteMap } from "@stricli/core";
import { type ConfigSet, type ConfigSetRequest, PlatformError } from "../../sdk/index.ts";
import type { Context } from "../context.ts";
import { misuse } from "../failure.ts";
import { type ConfirmFlags, confirm, confirmFlags } from "../input/confirm.ts";
import { documentIn } from "../input/document.ts";
import { plainLine } from "../output/plain.ts";
import { type OutputFlags, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { documented, outputAliases, outputFlags, text } from "../parameters.ts";

const columns: readonly Column<ConfigSet>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "VERSION", of: ({ version }) => version },
  { title: "USED BY", of: ({ used_by }) => used_by },
  { title: "DEFAULT", of: ({ is_default }) => (is_default ? "yes" : "") },
  { title: "DESCRIPTION", of: ({ description }) => description },
  { title: "UPDATED", of: ({ updated_at }) => updated_at, wide: true },
  { title: "BY", of: ({ created_by }) => created_by, wide: true },
];
const shown = (items: readonly ConfigSet[], data: unknown = items[0]) => ({
  data,
  items,
  columns,
  name: ({ name }: ConfigSet) => name,
});
const onlyId = { kind: "tuple", parameters: [{ brief: "Its name", placeholder: "name", parse: String }] } as const;

const list = buildCommand<OutputFlags, [], Context>({
  async func(flags) {
    const { items, total } = await this.client().call("GET /api/v2/config-sets", { query: { limit: 100 } });
    await print(this, shown(items, items), flags);
    if (items.length < total) this.say(`${items.length} of ${total} are shown.`);
  },
  parameters: { flags: outputFlags, aliases: outputAliases },
  docs: documented("List config sets", ["config-set list", "config-set list -o wide"]),
});

const get = buildCommand<OutputFlags, [name: string], Context>({
  async func(flags, id) {
    const found = await this.client().call("GET /api/v2/config-sets/{id}", { path: { id } });
    await print(this, shown([found]), flags);
  },
  parameters: { positional: onlyId, flags: outputFlags, aliases: outputAliases },
  docs: documented("Show a config set", ["config-set get web -o yaml"]),
});

interface ApplyFlags extends OutputFlags {
  readonly file: string;
}

/** Fields that only the platform sets: a file from `get` can be applied again. */
const OF_THE_PLATFORM = new Set(["id", "is_default", "version", "used_by", "created_by", "created_at", "updated_at"]);

const apply = buildCommand<ApplyFlags, [], Context>({
  async func({ file, ...flags }) {
    const given = await documentIn(file, this.process.stdin);
    const { name, ...content } = Object.fromEntries(
      Object.entries(given).filter(([field]) => !OF_THE_PLATFORM.has(field)),
    );
    if (typeof name !== "string") throw misuse(`${file} has no name`);
    await print(this, shown([await applied(this, { ...content, name })]), flags);
  },
  parameters: {
    flags: {
      file: { ...text("File (YAML or JSON) with all of it, - for stdin"), placeholder: "file" },
      ...outputFlags,
    },
    aliases: { f: "file", ...outputAliases },
  },
  docs: documented(
    "Make a config set, or replace what it has",
    ["config-set apply -f config-set.yaml"],
    "What the file leaves out is removed. Environments keep the version that they have.",
  ),
});

async function applied(context: Context, body: ConfigSetRequest): Promise<ConfigSet> {
  const client = context.client();
  try {
    return await client.call("PUT /api/v2/config-sets/{id}", { path: { id: body.name }, body });
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 404) throw error;
    return client.call("POST /api/v2/config-sets", { body });
  }
}

const remove = buildCommand<ConfirmFlags, [name: string], Context>({
  async func(flags, id) {
    await confirm(this, `Delete the config set ${id}?`, flags);
    const { message } = await this.client().call("DELETE /api/v2/config-sets/{id}", { path: { id } });
    this.say(plainLine(message));
  },
  parameters: { positional: onlyId, flags: confirmFlags, aliases: { y: "yes" } },
  docs: documented("Delete a config set that no environment uses", ["config-set delete web --yes"]),
});

/** `eenv config-set …`. */
export const configSet = buildRouteMap<"list" | "get" | "apply" | "delete", Context>({
  routes: { list, get, apply, delete: remove },
  docs: { brief: "Config sets: named values, variables and settings of environments" },
});

import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Token, TokenRequest } from "../../sdk/index.ts";
import type { Context } from "../context.ts";
import { misuse } from "../failure.ts";
import { hoursOf } from "../input/duration.ts";
import { plainLine } from "../output/plain.ts";
import { type OutputFlags, print } from "../output/print.ts";
import type { Column } from "../output/table.ts";
import { documented, off, optionalText, outputAliases, outputFlags } from "../parameters.ts";

const SCOPES = ["ENV_CREATE", "ENV_READ", "CONFIG_READ", "CONFIG_WRITE"] as const;

const columns: readonly Column<Token>[] = [
  { title: "ID", of: ({ id }) => id },
  { title: "NAME", of: ({ name }) => name },
  { title: "SCOPES", of: ({ scopes }) => scopes.join(",") },
  { title: "STATUS", of: ({ status }) => status },
  { title: "EXPIRES", of: ({ expires_at }) => expires_at ?? "never" },
  { title: "LAST USED", of: ({ last_used_at }) => last_used_at },
  { title: "OWNER", of: ({ owner }) => owner.email || owner.name, wide: true },
  { title: "DESCRIPTION", of: ({ description }) => description, wide: true },
];
const idOf = ({ id }: Token) => id;

interface CreateFlags extends OutputFlags {
  readonly scope: TokenRequest["scopes"];
  readonly expires?: number | undefined;
  readonly description?: string | undefined;
}

const create = buildCommand<CreateFlags, [name: string], Context>({
  async func({ scope, expires, description, ...flags }, name) {
    if (expires !== undefined && expires % 24 !== 0) throw misuse("a token expires after whole days, such as 30d");
    const body = {
      name,
      scopes: scope,
      ...(description !== undefined && { description }),
      ...(expires !== undefined && { expires_in_days: expires / 24 }),
    };
    const made = await this.client().call("POST /api/v2/tokens", { body });
    // For people and pipes, only the token is useful.
    if (flags.output === "table") this.process.stdout.write(`${plainLine(made.token)}\n`);
    else await print(this, { data: made, items: [made], columns, name: idOf }, flags);
    this.say(`Token ${made.id} may do ${made.scopes.join(", ")}. Its value is not shown again by eenv.`);
  },
  parameters: {
    positional: { kind: "tuple", parameters: [{ brief: "Purpose of the token", placeholder: "name", parse: String }] },
    flags: {
      scope: { kind: "enum", values: SCOPES, variadic: ",", brief: "Rights of the token; several with commas" },
      expires: {
        kind: "parsed",
        parse: hoursOf,
        optional: true,
        placeholder: "duration",
        brief: "After how many days it is good no more, such as 30d (default: never)",
      },
      description: optionalText("For people"),
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented("Make an API token and print it", ["token create ci --scope ENV_CREATE,ENV_READ --expires 30d"]),
});

interface ListFlags extends OutputFlags {
  readonly all: boolean;
}

const list = buildCommand<ListFlags, [], Context>({
  async func({ all, ...flags }) {
    const query = { limit: 100, ...(all && { all }) };
    const { items, total } = await this.client().call("GET /api/v2/tokens", { query });
    await print(this, { data: items, items, columns, name: idOf }, flags);
    if (items.length < total) this.say(`${items.length} of ${total} are shown.`);
  },
  parameters: { flags: { all: off("Of all users (admins)"), ...outputFlags }, aliases: outputAliases },
  docs: documented("List API tokens", ["token list", "token list -o json"]),
});

const revoke = buildCommand<OutputFlags, [id: string], Context>({
  async func(flags, id) {
    const revoked = await this.client().call("DELETE /api/v2/tokens/{id}", { path: { id } });
    await print(this, { data: revoked, items: [revoked], columns, name: idOf }, flags);
  },
  parameters: {
    positional: { kind: "tuple", parameters: [{ brief: "Id of the token", placeholder: "id", parse: String }] },
    flags: outputFlags,
    aliases: outputAliases,
  },
  docs: documented("Revoke an API token", ["token revoke TOKEN_ID"]),
});

/** `eenv token …`. */
export const token = buildRouteMap<"create" | "list" | "revoke", Context>({
  routes: { create, list, revoke },
  docs: { brief: "API tokens, for pipelines and programs" },
});

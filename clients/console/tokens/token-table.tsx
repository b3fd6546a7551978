import type { Token } from "../../sdk/index.ts";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, AgoOrNever, Until } from "../parts/when.tsx";

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly revoke: (token: Token) => void;
  readonly withOwners: boolean;
}

export function TokenTable({ tokens, revoke, withOwners }: TokenTableProps) {
  const columns = [
    "Name",
    "State",
    "Scopes",
    "Created",
    "Last used",
    "Expires",
    ...(withOwners ? ["Owner"] : []),
    "~Actions",
  ];
  return (
    <Table caption="API tokens" columns={columns} isStacked>
      {tokens.map((token) => (
        <tr key={token.id}>
          <th scope="row">
            {token.name}
            <small>
              <code>{token.token_prefix}…</code> {token.description}
            </small>
          </th>
          <td data-label="State">
            <State state={token.status} />
          </td>
          <td data-label="Scopes">{token.scopes.join(", ")}</td>
          <td data-label="Created">
            <Ago at={token.created_at} />
          </td>
          <td data-label="Last used">
            <AgoOrNever at={token.last_used_at} />
          </td>
          <td data-label="Expires">{token.expires_at === null ? "never" : <Until at={token.expires_at} />}</td>
          {withOwners && <td data-label="Owner">{token.owner.name || token.owner.email}</td>}
          <td class="row-end">
            {token.status === "active" && (
              <button
                type="button"
                class="small danger-quiet"
                aria-label={`Revoke ${token.name}`}
                onClick={() => revoke(token)}
              >
                Revoke…
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

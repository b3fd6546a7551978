import { useState } from "preact/hooks";
import type { Repository } from "../../sdk/index.ts";
import { Empty } from "../parts/empty.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { AgoOrNever } from "../parts/when.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellFailure, tellOutcome } from "../platform/notices.ts";
import { may } from "../platform/user.ts";
import { reloadOutcome } from "./reload.ts";

const LIMIT = 50;

/** Repositories that environments can be made of. */
export function RepositoriesScreen() {
  const [offset, setOffset] = useState(0);
  const [isReloading, setReloading] = useState(false);
  const repositories = useLoaded(`repositories ${offset}`, (signal) =>
    platform.call("GET /api/v2/repos", { query: { limit: LIMIT, offset }, signal }),
  );
  async function reload() {
    setReloading(true);
    try {
      const { text, problems } = reloadOutcome(await platform.call("POST /api/v2/repos/reload"));
      tellOutcome(text);
      if (problems !== "") tellFailure("Some repositories stay as they were", new Error(problems));
    } catch (error) {
      tellFailure("The repositories can't be reloaded", error);
    }
    setReloading(false);
    repositories.reload();
  }
  return (
    <Page
      title="Repositories"
      about="Sources of environments."
      actions={
        may("repos:reload") && (
          <button type="button" disabled={isReloading} onClick={() => void reload()}>
            {isReloading ? "Checking all…" : "Reload"}
          </button>
        )
      }
    >
      <LoadedView of={repositories} what="The repositories">
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="No repositories">
              <p>The platform's team registers them.</p>
            </Empty>
          ) : (
            <>
              <Table caption="Repositories" columns={["Name", "Kind", "Host", "Pull requests", "Checked"]} isStacked>
                {items.map((repository) => (
                  <Row key={repository.id} repository={repository} />
                ))}
              </Table>
              <Pager {...{ total, limit: LIMIT, offset, go: setOffset }} />
            </>
          )
        }
      </LoadedView>
    </Page>
  );
}

function Row({ repository }: { readonly repository: Repository }) {
  const { id, type, full_name, clone_url, pull_request, reachable, last_checked_at } = repository;
  return (
    <tr>
      <th scope="row">
        <a href={`/console/repositories/${encodeURIComponent(id)}`}>{id}</a>
      </th>
      <td data-label="Kind">{type}</td>
      <td data-label="Host">
        <span class="address">{full_name ?? clone_url}</span>
      </td>
      <td data-label="Pull requests">{pull_request.enabled ? "get environments" : "—"}</td>
      <td data-label="Checked">
        {reachable === null ? (
          "not yet"
        ) : (
          <span class="states">
            <State state={reachable ? "ok" : "unreachable"} word={reachable ? "reachable" : "not reachable"} />
            <span class="quiet">
              <AgoOrNever at={last_checked_at} />
            </span>
          </span>
        )}
      </td>
    </tr>
  );
}

import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Empty } from "../parts/empty.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { Waiting } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { countText } from "../parts/words.ts";
import { may } from "../platform/user.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { CleanUp } from "./clean-up.tsx";
import { EnvironmentRow } from "./environment-row.tsx";
import { Filters } from "./filters.tsx";
import { LOOKED_THROUGH, listError, listStream, page, useList } from "./list.ts";
import { LiveMark } from "./live-mark.tsx";
import { addressOf, type ListQuery, PAGE_SIZE, queryFrom } from "./page-of-list.ts";

const COLUMNS = ["Name", "State", "Source", "Address", "Expires"];

/** Environments that the reader may see, by page. */
export function EnvironmentsScreen() {
  const { query: parameters, route } = useLocation();
  const query = queryFrom(parameters);
  useList(query);
  const go = (change: Partial<ListQuery>) =>
    route(addressOf({ ...query, offset: 0, ...change }), !("offset" in change));
  const mayChange = may("environments:update") || may("environments:delete");
  return (
    <Page
      title="Environments"
      actions={
        <>
          {query.status === "failed" && may("environments:delete") && <CleanUp />}
          {may("environments:create") && (
            <a class="button primary" href="/console/new">
              New environment
            </a>
          )}
        </>
      }
    >
      <Filters query={query} go={go} />
      {listError.value !== undefined && <FailureBox title="The list can't be shown" error={listError.value} />}
      {page.value === undefined ? listError.value === undefined && <Waiting /> : <List {...{ query, go, mayChange }} />}
    </Page>
  );
}

interface ListProps {
  readonly query: ListQuery;
  readonly go: (change: Partial<ListQuery>) => void;
  readonly mayChange: boolean;
}

function List({ query, go, mayChange }: ListProps) {
  const { environments, total } = page.value ?? { environments: [], total: 0 };
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setChosen(new Set()), [addressOf(query)]);
  const shown = environments.filter(({ id }) => chosen.has(id));
  if (environments.length === 0) return <Nothing query={query} />;
  const choose = (ids: readonly string[], isChosen: boolean) => {
    const others = [...chosen].filter((id) => !ids.includes(id));
    setChosen(new Set(isChosen ? [...others, ...ids] : others));
  };
  return (
    <>
      <div class="list-head">
        {mayChange && (
          <label class="choose-all">
            <input
              type="checkbox"
              checked={shown.length === environments.length}
              onChange={({ currentTarget }) =>
                choose(
                  environments.map(({ id }) => id),
                  currentTarget.checked,
                )
              }
            />
            All on this page
          </label>
        )}
        <p class="quiet">
          {countText(total, "environment")}
          {query.isMine && ` of yours among the first ${LOOKED_THROUGH.toLocaleString()}`}
        </p>
        <LiveMark state={listStream.value} />
      </div>
      {shown.length > 0 && <BulkBar environments={shown} done={() => setChosen(new Set())} />}
      <Table caption="Environments" columns={mayChange ? ["~Chosen", ...COLUMNS] : COLUMNS} isStacked>
        {environments.map((environment) => (
          <EnvironmentRow
            key={environment.id}
            environment={environment}
            {...(mayChange && {
              isChosen: chosen.has(environment.id),
              choose: (isChosen: boolean) => choose([environment.id], isChosen),
            })}
          />
        ))}
      </Table>
      <Pager total={total} limit={PAGE_SIZE} offset={query.offset} go={(offset) => go({ offset })} />
    </>
  );
}

function Nothing({ query }: { readonly query: ListQuery }) {
  if (query.search !== "" || query.status !== "" || query.isMine || query.offset > 0) {
    return (
      <Empty title="No environment matches">
        <p>
          <a href="/console/">Show all</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No environments yet">
      <p>
        An environment is a complete copy of your application at its own address. It is deleted when its time is up.
      </p>
      {may("environments:create") && (
        <a class="button primary" href="/console/new">
          Create the first one
        </a>
      )}
    </Empty>
  );
}

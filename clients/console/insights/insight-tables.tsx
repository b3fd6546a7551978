import type { EnvironmentAnalytics, EnvironmentGroup, UserActivity } from "../../sdk/index.ts";
import { groupName } from "../charts/group-name.ts";
import { environmentPath } from "../parts/addresses.ts";
import { Table } from "../parts/table.tsx";
import { AgoOrNever } from "../parts/when.tsx";
import { amountText, shareText, spaced } from "../parts/words.ts";

interface InsightTablesProps {
  readonly analytics: EnvironmentAnalytics;
  readonly activity: UserActivity;
}

export function InsightTables({ analytics, activity }: InsightTablesProps) {
  return (
    <div class="grid">
      <Groups title="By repository" groups={analytics.by_repository} />
      <Groups title="By config set" groups={analytics.by_config_set} />
      <section class="card" aria-labelledby="triggers">
        <h2 id="triggers">What made them</h2>
        <Table caption="Environments by what made them" columns={["By", "#Created"]}>
          {Object.entries(analytics.by_trigger).map(([trigger, count]) => (
            <tr key={trigger}>
              <th scope="row">{spaced(trigger)}</th>
              <td class="number">{count}</td>
            </tr>
          ))}
        </Table>
      </section>
      <section class="card" aria-labelledby="reasons">
        <h2 id="reasons">Why they failed</h2>
        {analytics.failure_reasons.length === 0 && <p class="quiet">None failed.</p>}
        {analytics.failure_reasons.length > 0 && (
          <Table caption="Why environments failed" columns={["Reason", "#Environments"]}>
            {analytics.failure_reasons.map(({ reason, environments }) => (
              <tr key={reason}>
                <th scope="row">{reason}</th>
                <td class="number">{environments}</td>
              </tr>
            ))}
          </Table>
        )}
      </section>
      <section class="card" aria-labelledby="stale">
        <h2 id="stale">Unchanged for days</h2>
        {analytics.stale.length === 0 && <p class="quiet">None.</p>}
        {analytics.stale.length > 0 && (
          <Table caption="Environments without a change for days" columns={["Environment", "#Unchanged"]}>
            {analytics.stale.map(({ id, name, unchanged_hours }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={environmentPath(name)}>{name}</a>
                </th>
                <td class="number">{amountText(unchanged_hours, "h")}</td>
              </tr>
            ))}
          </Table>
        )}
      </section>
      <section class="card" aria-labelledby="people">
        <h2 id="people">People</h2>
        <Table caption="Who created environments" columns={["Name", "#Created", "#There now", "Last"]}>
          {activity.users.map(({ id, name, email, created, active_environments, last_created_at }) => (
            <tr key={id}>
              <th scope="row">{name || email || "unknown"}</th>
              <td class="number">{created}</td>
              <td class="number">{active_environments}</td>
              <td>
                <AgoOrNever at={last_created_at} />
              </td>
            </tr>
          ))}
        </Table>
      </section>
    </div>
  );
}

function Groups({ title, groups }: { readonly title: string; readonly groups: readonly EnvironmentGroup[] }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <Table caption={title} columns={["Name", "#Created", "#Failed", "#Became ready"]}>
        {groups.map((group) => (
          <tr key={`${group.kind} ${group.id}`}>
            <th scope="row">{groupName(group)}</th>
            <td class="number">{group.created}</td>
            <td class="number">{group.failed}</td>
            <td class="number">{shareText(group.success_rate)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

import type { PlatformMetrics, PlatformStatus, ServiceLevels } from "../../sdk/index.ts";
import { type Fact, Facts, Figure } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/when.tsx";
import { amountText, shareText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { may } from "../platform/user.ts";

interface Shown {
  readonly status: PlatformStatus;
  readonly levels: ServiceLevels | undefined;
  readonly metrics: PlatformMetrics | undefined;
}

/** Health and metrics of the platform. */
export function StatusScreen() {
  const shown = useLoaded<Shown>("status", async (signal) => {
    const mayObserve = may("observability:read");
    const [status, levels, metrics] = await Promise.all([
      platform.call("GET /api/v2/status", { signal }),
      mayObserve ? platform.call("GET /api/v2/observability/slo/status", { signal }) : undefined,
      mayObserve ? platform.call("GET /api/v2/observability/metrics", { query: { window: "24h" }, signal }) : undefined,
    ]);
    return { status, levels, metrics };
  });
  return (
    <Page
      title="Platform"
      about={shown.value && <State state={shown.value.status.status} />}
      actions={
        <button type="button" disabled={shown.isLoading} onClick={shown.reload}>
          Refresh
        </button>
      }
    >
      <LoadedView of={shown} what="The platform's status">
        {({ status, levels, metrics }) => (
          <>
            {status.expirations_blocked && (
              <p class="remark">
                More environments are due at once than may be deleted unconfirmed. None is deleted until fewer are due,
                or an admin confirms.
              </p>
            )}
            {metrics && <Figures of={metrics} />}
            <div class="column">
              <Services of={status} />
              {levels && <Objectives of={levels} />}
            </div>
            <p class="quiet">
              Version {status.version}, asked <Ago at={status.timestamp} />
            </p>
          </>
        )}
      </LoadedView>
    </Page>
  );
}

function Services({ of: { services, circuit_breakers } }: { readonly of: PlatformStatus }) {
  const { datastore, cache, deployer } = services;
  const rows: readonly Fact[] = [
    ["Kubernetes API", <Health key="api" of={datastore} more={`${datastore.response_time_ms} ms`} />],
    ["Cache", <Health key="cache" of={cache} more={`${cache.memory_usage}, ${cache.age_seconds ?? 0} s old`} />],
    ...(cache.redis === undefined
      ? []
      : [["Redis", <Health key="redis" of={{ healthy: cache.redis === "up" }} />] as const]),
    ["Deployer", <Health key="deployer" of={deployer} more={`${deployer.applications_synced} applications synced`} />],
    ...circuit_breakers.map(({ name, state }): Fact => [name, <State key={name} state={state} />]),
  ];
  return (
    <section class="card" aria-labelledby="services">
      <h2 id="services">Services</h2>
      <Facts of={rows} />
    </section>
  );
}

function Health({ of: { healthy }, more }: { readonly of: { readonly healthy: boolean }; readonly more?: string }) {
  return (
    <span class="states">
      <State state={healthy ? "healthy" : "unhealthy"} />
      {more && <span class="quiet">{more}</span>}
    </span>
  );
}

function Figures({
  of: { environments, provisioning, webhooks, reconcile, expiry },
}: {
  readonly of: PlatformMetrics;
}) {
  return (
    <dl class="figures">
      <Figure name="Environments" value={environments.total} note={`${environments.by_status.failed} failed`} />
      <Figure
        name="Until ready, median"
        value={amountText(provisioning.p50_seconds, "s")}
        note={`95 of 100 within ${amountText(provisioning.p95_seconds, "s")}, last 24 hours`}
      />
      <Figure name="Expire within a day" value={expiry.pending_24h} />
      <Figure
        name="Webhooks"
        value={webhooks.received}
        note={`${webhooks.failed} failed, ${webhooks.refused} refused`}
      />
      <Figure name="Changes waiting" value={reconcile.queue_depth} note={`${reconcile.errors} errors, last 24 hours`} />
    </dl>
  );
}

/** Objectives of the platform, and their fulfilment. */
function Objectives({ of: { objectives, overall } }: { readonly of: ServiceLevels }) {
  return (
    <section class="card" aria-labelledby="objectives">
      <div class="card-head">
        <h2 id="objectives">Service levels</h2>
        <State state={overall} />
      </div>
      <Table caption="Service levels" columns={["Objective", "State", "#Kept", "#Target", "#Budget left"]} isStacked>
        {objectives.map(({ id, description, state, availability, target, error_budget }) => (
          <tr key={id}>
            <th scope="row">{description}</th>
            <td data-label="State">
              <State state={state} />
            </td>
            <td data-label="Kept" class="number">
              {shareText(availability)}
            </td>
            <td data-label="Target" class="number">
              {shareText(target)}
            </td>
            <td data-label="Budget left" class="number">
              {amountText(error_budget.remaining_percent, "%")}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

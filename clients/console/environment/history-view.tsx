import type { EnvironmentReport } from "../../sdk/index.ts";
import { FailureBox } from "../parts/failure-box.tsx";
import { At } from "../parts/when.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { may } from "../platform/user.ts";
import { historyOf } from "./history.ts";

/** Past events of an environment. */
export function HistoryView({ environment }: { readonly environment: EnvironmentReport }) {
  const { repo } = environment.repositories.backend;
  const deliveries = useLoaded(environment.id, async (signal) =>
    may("repos:read")
      ? (await platform.call("GET /api/v2/webhooks/deliveries", { query: { repository: repo, limit: 100 }, signal }))
          .items
      : [],
  );
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      {deliveries.error !== undefined && <FailureBox title="Its webhooks can't be shown" error={deliveries.error} />}
      <ol class="history">
        {historyOf(environment, deliveries.value ?? []).map(({ key, at, what, note, delivery }) => (
          <li key={key}>
            <At instant={at} />
            <div>
              <p>
                {delivery === undefined ? (
                  what
                ) : (
                  <a href={`/console/webhooks/${encodeURIComponent(delivery)}`}>{what}</a>
                )}
              </p>
              {note && <p class="quiet">{note}</p>}
            </div>
          </li>
        ))}
      </ol>
      <p class="quiet">Of each step its latest change. Who changed what is in the platform's audit log.</p>
    </section>
  );
}

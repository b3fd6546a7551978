import type { EnvironmentReport, UrlHealth } from "../../sdk/index.ts";
import { rests } from "../environments/rests.ts";
import { Copy } from "../parts/copy.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { OuterLink } from "../parts/outer-link.tsx";
import { State } from "../parts/state.tsx";
import { Ago } from "../parts/when.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";

/** Addresses of an environment, and their current results. */
export function UrlsView({ environment }: { readonly environment: EnvironmentReport }) {
  const { id, status, urls } = environment;
  const isResting = rests(environment);
  const isExpected = status === "ready" && !isResting;
  const checked = useLoaded(`${id} ${isExpected}`, async (signal) =>
    isExpected
      ? platform.call("GET /api/v2/environments/{environment_id}/check-all-urls", {
          path: { environment_id: id },
          signal,
        })
      : undefined,
  );
  const rows = [
    ["Frontend", urls.frontend, checked.value?.details.frontend],
    ["Backend", urls.backend, checked.value?.details.backend],
    ...furtherRows(urls.hosts, checked.value?.details.hosts),
  ] as const;
  return (
    <section class="card" aria-labelledby="urls">
      <div class="card-head">
        <h2 id="urls">Addresses</h2>
        {isExpected && (
          <button type="button" class="small" disabled={checked.isLoading} onClick={checked.reload}>
            {checked.isLoading ? "Checking…" : "Check again"}
          </button>
        )}
      </div>
      {checked.error !== undefined && <FailureBox title="The addresses can't be checked" error={checked.error} />}
      <ul class="urls">
        {rows.map(
          ([name, address, health]) =>
            address !== undefined && (
              <li key={name}>
                <span class="url-name">{name}</span>
                <OuterLink address={address} />
                <Health of={health} />
                <Copy text={address} label={`Copy the address of the ${name.toLowerCase()}`} />
              </li>
            ),
        )}
      </ul>
      {!isExpected && (
        <p class="quiet">{isResting ? "It is asleep: nothing answers there." : "They answer once it is ready."}</p>
      )}
      {checked.value && (
        <p class="quiet">
          Checked <Ago at={checked.value.checked_at} />
        </p>
      )}
    </section>
  );
}

type Row = readonly [name: string, address: string, health: UrlHealth | undefined];

/** Known hosts, with results of probes. */
function furtherRows(hosts: EnvironmentReport["urls"]["hosts"] = {}, checked: Record<string, UrlHealth> = {}): Row[] {
  const results = new Map(Object.entries(checked));
  return Object.entries(hosts).map(([name, address]) => [name, address, results.get(name)]);
}

function Health({ of }: { readonly of: UrlHealth | undefined }) {
  if (of === undefined) return null;
  return <State state={of.status} word={of.status === "healthy" ? `healthy, ${of.response_time_ms} ms` : of.status} />;
}

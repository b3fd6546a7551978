import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { WebhookDeliveryReport } from "../../sdk/index.ts";
import { environmentPath } from "../parts/addresses.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { Ago } from "../parts/when.tsx";
import { shortCommit, spaced } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tellFailure, tellOutcome } from "../platform/notices.ts";
import { may } from "../platform/user.ts";

/** One webhook: content, verdicts, outcome. */
export function DeliveryScreen() {
  const { id = "" } = useRoute().params;
  const [isBusy, setBusy] = useState(false);
  const path = { id };
  const delivery = useLoaded(id, (signal) => platform.call("GET /api/v2/webhooks/deliveries/{id}", { path, signal }));
  async function redeliver() {
    setBusy(true);
    try {
      const { outcome, message } = await platform.call("POST /api/v2/webhooks/deliveries/{id}/redeliver", { path });
      tellOutcome(`${outcome}: ${message}`);
    } catch (error) {
      tellFailure("It can't be acted on again", error);
    }
    setBusy(false);
    delivery.reload();
  }
  return (
    <Page
      title={delivery.value === undefined ? "Webhook" : titleOf(delivery.value)}
      about={delivery.value && <State state={delivery.value.status} />}
      actions={
        may("webhooks:manage") && (
          <button type="button" disabled={isBusy} onClick={() => void redeliver()}>
            Act on it again
          </button>
        )
      }
    >
      <LoadedView of={delivery} what="The webhook">
        {(value) => (
          <div class="columns">
            <div class="column">
              <Outcome of={value} />
              <Trace of={value} />
            </div>
            <section class="card" aria-labelledby="details">
              <h2 id="details">Details</h2>
              <Facts of={factsOf(value)} />
            </section>
          </div>
        )}
      </LoadedView>
    </Page>
  );
}

const titleOf = ({ event_name, event, number }: WebhookDeliveryReport) =>
  `${event_name || spaced(event)}${number === null ? "" : ` #${number}`}`;

function Outcome({ of: { message, reason, environments, note } }: { readonly of: WebhookDeliveryReport }) {
  return (
    <section class="card" aria-labelledby="outcome">
      <h2 id="outcome">Outcome</h2>
      <p>{message || spaced(reason)}</p>
      {note && <p class="quiet">{note}</p>}
      <ul class="rows">
        {environments.map(({ id, name, action }) => (
          <li key={id}>
            <a href={environmentPath(name)}>{name}</a>
            <span>{action}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Trace({ of: { trace } }: { readonly of: WebhookDeliveryReport }) {
  return (
    <section class="card" aria-labelledby="trace">
      <h2 id="trace">Rules</h2>
      {trace.length === 0 && <p class="quiet">No rule was asked.</p>}
      <ol class="steps">
        {trace.map(({ repository, rule, passed, message }) => (
          <li key={`${repository} ${rule}`} data-state={passed ? "done" : "failed"}>
            <div class="step">
              <span class="step-name">{spaced(rule)}</span>
              <span class="step-word">{passed ? "passed" : "stopped it"}</span>
              <span class="step-time">{repository}</span>
            </div>
            {message && <p class="step-message">{message}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function factsOf(delivery: WebhookDeliveryReport): readonly Fact[] {
  const { received_at, finished_at, commit, action, host, delivery_id } = delivery;
  return [
    ["Received", <Ago key="received" at={received_at} />],
    ["Finished", finished_at === null ? "not yet" : <Ago key="finished" at={finished_at} />],
    ["Event", spaced(delivery.event)],
    ["Action", action === null ? "none" : spaced(action)],
    [
      "Commit",
      commit === null ? (
        "none"
      ) : (
        <code key="commit" title={commit}>
          {shortCommit(commit)}
        </code>
      ),
    ],
    ["Repositories", delivery.repositories.join(", ") || "none"],
    ["Signature", delivery.verified ? "checked" : "none: it changes no environment"],
    ["Endpoint", delivery.source],
    ["Host", host ?? "the contract's own headers"],
    [
      "Id at the host",
      <span key="id" class="address">
        {delivery_id ?? "none"}
      </span>,
    ],
  ];
}

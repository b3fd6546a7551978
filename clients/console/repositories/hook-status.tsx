import { useState } from "preact/hooks";
import type { RepositoryHook, RepositoryWebhook } from "../../sdk/index.ts";
import { Facts } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { State } from "../parts/state.tsx";
import { Ago, AgoOrNever } from "../parts/when.tsx";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { tell } from "../platform/notices.ts";
import { may } from "../platform/user.ts";

/** State of a repository's webhook, problems, and repair. */
export function HookStatus({ id }: { readonly id: string }) {
  const [isBusy, setBusy] = useState(false);
  const path = { id };
  const webhook = useLoaded(id, (signal) => platform.call("GET /api/v2/repos/{id}/webhook", { path, signal }));
  async function repair() {
    setBusy(true);
    await tell(
      platform.call("POST /api/v2/repos/{id}/webhook", { path }),
      `The webhook of ${id} has been repaired`,
      `The webhook of ${id} can't be repaired`,
    );
    setBusy(false);
    webhook.reload();
  }
  return (
    <section class="card" aria-labelledby="webhook">
      <div class="card-head">
        <h2 id="webhook">Webhook</h2>
        <button type="button" class="small" disabled={webhook.isLoading} onClick={webhook.reload}>
          Check again
        </button>
        {may("webhooks:manage") && webhook.value?.problems.length !== 0 && webhook.value && (
          <button type="button" class="small" disabled={isBusy} onClick={() => void repair()}>
            Register or repair
          </button>
        )}
      </div>
      <LoadedView of={webhook} what="The webhook">
        {(value) => <Findings of={value} />}
      </LoadedView>
    </section>
  );
}

function Findings({ of }: { readonly of: RepositoryWebhook }) {
  const { problems, hooks, host, address, last_received } = of;
  return (
    <>
      {problems.length === 0 ? (
        <p>
          <State state="ok" word="Events arrive" />
        </p>
      ) : (
        <ul class="problems">
          {problems.map(({ reason, message, next_step }) => (
            <li key={reason}>
              <State state="failed" word={message} />
              <p>{next_step}</p>
            </li>
          ))}
        </ul>
      )}
      <Facts
        of={[
          ["Host", host === null ? "none" : `${host.id} (${host.kind})`],
          [
            "Belongs at",
            <span key="address" class="address">
              {address ?? "not known"}
            </span>,
          ],
          ["Last event", last_received === null ? "none is stored" : <Received key="received" of={last_received} />],
        ]}
      />
      {hooks.map((hook) => (
        <Hook key={hook.id} of={hook} />
      ))}
    </>
  );
}

function Received({ of }: { readonly of: NonNullable<RepositoryWebhook["last_received"]> }) {
  return (
    <>
      <a href={`/console/webhooks/${encodeURIComponent(of.id)}`}>{of.event_name || "an event"}</a>,{" "}
      <Ago at={of.received_at} />
    </>
  );
}

function Hook({ of: { id, address, here, state, events, last_delivery } }: { readonly of: RepositoryHook }) {
  return (
    <div class="hook">
      <h3>
        Hook {id} <State state={state} />
      </h3>
      <Facts
        of={[
          [
            "Delivers to",
            <span key="to" class="address">
              {address}
              {here ? "" : " (another address)"}
            </span>,
          ],
          ["Events", events.join(", ") || "none"],
          [
            "Last delivery",
            last_delivery === null ? (
              "none lately"
            ) : (
              <>
                {last_delivery.answer}, <AgoOrNever at={last_delivery.at} />
              </>
            ),
          ],
        ]}
      />
    </div>
  );
}

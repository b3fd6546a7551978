import { useLocation } from "preact-iso";
import type { Operations, WebhookDelivery } from "../../sdk/index.ts";
import { Empty } from "../parts/empty.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { Pager } from "../parts/pager.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/when.tsx";
import { spaced } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { addressOf, CHOICES, type DeliveryQuery, queryFrom } from "./delivery-query.ts";

const LIMIT = 50;
type Query = NonNullable<Operations["GET /api/v2/webhooks/deliveries"]["query"]>;

/** Webhooks that arrived, and their outcomes. */
export function DeliveriesScreen() {
  const { query: parameters, route } = useLocation();
  const query = queryFrom(parameters);
  const { offset, ...chosen } = query;
  const deliveries = useLoaded(addressOf(query), (signal) => {
    const filters = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== "")) as Query;
    return platform.call("GET /api/v2/webhooks/deliveries", { query: { ...filters, limit: LIMIT, offset }, signal });
  });
  const go = (change: Partial<DeliveryQuery>) =>
    route(addressOf({ ...query, offset: 0, ...change }), !("offset" in change));
  return (
    <Page
      title="Webhooks"
      about="Events of repository hosts, and their outcomes."
      actions={
        <button type="button" disabled={deliveries.isLoading} onClick={deliveries.reload}>
          Refresh
        </button>
      }
    >
      <search class="filters">
        {CHOICES.map(({ field, label, values }) => (
          <select
            key={field}
            aria-label={label}
            value={query[field]}
            onChange={({ currentTarget }) => go({ [field]: currentTarget.value })}
          >
            <option value="">{label}: all</option>
            {values.map((value) => (
              <option key={value} value={value}>
                {spaced(value)}
              </option>
            ))}
          </select>
        ))}
      </search>
      <LoadedView of={deliveries} what="The webhooks">
        {({ items, total }) =>
          items.length === 0 ? (
            <Empty title="No webhooks">
              <p>Those that arrive are kept here for a while, with the reason for what was done.</p>
            </Empty>
          ) : (
            <>
              <Table
                caption="Webhooks"
                columns={["Event", "Outcome", "Repository", "Environments", "Received"]}
                isStacked
              >
                {items.map((delivery) => (
                  <Row key={delivery.id} of={delivery} />
                ))}
              </Table>
              <Pager {...{ total, limit: LIMIT, offset, go: (next) => go({ offset: next }) }} />
            </>
          )
        }
      </LoadedView>
    </Page>
  );
}

function Row({ of }: { readonly of: WebhookDelivery }) {
  const { id, event_name, event, action, number, status, message, repositories, environments, received_at, verified } =
    of;
  return (
    <tr>
      <th scope="row">
        <a href={`/console/webhooks/${encodeURIComponent(id)}`}>
          {event_name || spaced(event)}
          {number !== null && ` #${number}`}
        </a>
        <small>
          {action && spaced(action)} {!verified && <span class="tag">unverified</span>}
        </small>
      </th>
      <td data-label="Outcome">
        <State state={status} />
        <small>{message}</small>
      </td>
      <td data-label="Repository">{repositories.join(", ") || "—"}</td>
      <td data-label="Environments">
        {environments.map(({ name, action: done }) => `${name} ${done}`).join(", ") || "—"}
      </td>
      <td data-label="Received">
        <Ago at={received_at} />
      </td>
    </tr>
  );
}

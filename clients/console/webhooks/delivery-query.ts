/** Filters of the deliveries. Empty: all. */
export interface DeliveryQuery {
  readonly status: string;
  readonly event: string;
  readonly source: string;
  readonly repository: string;
  readonly offset: number;
}

interface Choice {
  readonly field: "status" | "event" | "source";
  readonly label: string;
  readonly values: readonly string[];
}

export const CHOICES: readonly Choice[] = [
  { field: "status", label: "Outcome", values: ["pending", "acted", "ignored", "failed"] },
  {
    field: "event",
    label: "Event",
    values: ["pull_request", "push", "pipeline", "merge_group", "approval", "ping", "other"],
  },
  {
    field: "source",
    label: "Endpoint",
    values: ["repohost", "pipelinehost", "generic", "environment", "approval", "refetch"],
  },
];

/** Filters in an address. */
export function queryFrom(query: Readonly<Record<string, string>>): DeliveryQuery {
  const offset = Number(query.offset);
  return {
    status: query.status ?? "",
    event: query.event ?? "",
    source: query.source ?? "",
    repository: query.repository ?? "",
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

/** Address of filtered deliveries. */
export function addressOf({ offset, ...chosen }: DeliveryQuery): string {
  const given = Object.entries({ ...chosen, offset: offset === 0 ? "" : String(offset) });
  const parameters = new URLSearchParams(given.filter(([, value]) => value !== ""));
  return parameters.size === 0 ? "/console/webhooks" : `/console/webhooks?${parameters}`;
}

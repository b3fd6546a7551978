import { Agent, request } from "undici";
import { MINUTE_MS } from "../../../crds/durations.ts";
import { present } from "../../../crds/present.ts";
import { type AllocatedCost, sumOfCosts } from "../../../crds/usage/allocations.ts";
import type { Period } from "../../../crds/usage/period-summary.ts";
import { errorCode } from "../../kit/error-code.ts";
import { type CostMonitor, CostMonitorUnavailable } from "../../ports/cost-monitor.ts";

interface OpenCostOptions {
  /** Base address of the API. */
  readonly url: string;
  /** CA of its certificate, in PEM. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number;
  readonly answerLimitBytes?: number;
}

/** OpenCost sends Prometheus some thirty queries per answer. */
const TIMEOUT_MS = 60_000;
/** Some 2 KiB per namespace. */
const ANSWER_LIMIT_BYTES = 32 * 1024 * 1024;
/** Samples of Prometheus per period; versions with their own resolution ignore it. */
const SAMPLES = 60;
/** Thousandths of a cent. */
const UNIT = 100_000;

/** Used part of an allocation; NaN is `null`. https://opencost.io/docs/integrations/api#allocation-schema */
type Row = Readonly<Record<string, unknown>>;

/**
 * Allocations port over OpenCost's API. Follows no redirect. Idle resources belong to no environment, unless OpenCost
 * shares them.
 */
export function openCostMonitor(options: OpenCostOptions): CostMonitor {
  const { url, ca, timeoutMs = TIMEOUT_MS, answerLimitBytes = ANSWER_LIMIT_BYTES } = options;
  const agent = new Agent({
    connections: 1,
    connect: { timeout: Math.min(timeoutMs, 5_000), ...present({ ca }) },
    maxResponseSize: answerLimitBytes,
  });
  return {
    async byNamespace(period, signal) {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const { statusCode, body } = await request(addressOf(url, period), { dispatcher: agent, signal: deadline })
        .then(async (reply) => ({ statusCode: reply.statusCode, body: await reply.body.text() }))
        .catch((cause: unknown) => {
          signal.throwIfAborted();
          throw new CostMonitorUnavailable(`OpenCost does not answer (${errorCode(cause)})`, { cause });
        });
      if (statusCode !== 200) throw new CostMonitorUnavailable(`OpenCost answered ${statusCode}`);
      return costsOf(rowsOf(body));
    },
    close: () => agent.close(),
  };
}

/** @see https://opencost.io/docs/integrations/api#allocation-api */
function addressOf(base: string, { fromMs, toMs }: Period): URL {
  const address = new URL(`${base.replace(/\/+$/, "")}/allocation/compute`);
  const minutes = Math.max(1, Math.floor((toMs - fromMs) / MINUTE_MS / SAMPLES));
  const query = { window: `${instant(fromMs)},${instant(toMs)}`, aggregate: "namespace", resolution: `${minutes}m` };
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address;
}

/** RFC 3339 without a fraction, which OpenCost rejects. */
const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Rows of all sets: one set per step; an empty set may be `null`. */
function rowsOf(text: string): readonly (readonly [string, Row])[] {
  let answer: { readonly code?: unknown; readonly data?: unknown };
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new CostMonitorUnavailable("OpenCost's answer is not JSON", { cause });
  }
  // Older versions answer errors with the status 200.
  if (answer?.code !== 200 || !Array.isArray(answer.data)) {
    throw new CostMonitorUnavailable("OpenCost's answer is an error, or has no data");
  }
  return answer.data.flatMap((set: Readonly<Record<string, Row>> | null) => Object.entries(set ?? {}));
}

/** Rows without a namespace, such as `__idle__`, have a name that is invalid for one. */
function costsOf(rows: readonly (readonly [string, Row])[]): ReadonlyMap<string, AllocatedCost> {
  const costs = new Map<string, AllocatedCost>();
  for (const [namespace, row] of rows) {
    const cost = costOf(row);
    const known = costs.get(namespace);
    if (cost !== undefined) costs.set(namespace, known === undefined ? cost : sumOfCosts(known, cost));
  }
  return costs;
}

/** Whole numbers with adjustments, like the total; `undefined` without a total. */
function costOf(row: Row): AllocatedCost | undefined {
  if (amountOf(row, "totalCost") === undefined) return undefined;
  const sumOfFields = (...names: readonly string[]) => {
    const fields = names.flatMap((name) => [`${name}Cost`, `${name}CostAdjustment`]);
    const total = fields.reduce((sum, field) => sum + (amountOf(row, field) ?? 0), 0);
    return Math.max(0, total);
  };
  return {
    cpu: sumOfFields("cpu"),
    memory: sumOfFields("ram"),
    storage: sumOfFields("pv"),
    other: sumOfFields("gpu", "network", "loadBalancer", "shared", "external"),
  };
}

function amountOf(row: Row, field: string): number | undefined {
  const value = row?.[field];
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value * UNIT) : undefined;
}

import { present } from "../../../crds/present.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { errorCode } from "../../kit/error-code.ts";
import { type IngressTraffic, IngressTrafficUnavailable } from "../../ports/ingress-traffic.ts";
import { type Bounds, exchange } from "./exchange.ts";
import { type Totals, trafficOf } from "./readings.ts";

interface QueryOptions extends Bounds {
  /** Base address of the API. */
  readonly url: string;
  /** A query whose result has the requests so far, by the label `exported_namespace` or `namespace`. */
  readonly query: string;
  /** CA of its certificate, in PEM. */
  readonly ca?: string | undefined;
  /** Reads the bearer token, which may be renewed. */
  readonly readToken?: (() => Promise<Sensitive>) | undefined;
}

const NAME = "Prometheus";

/** IngressTraffic over one query of Prometheus, which counts as one instance. */
export function queriedTraffic({ url, query, readToken, ...options }: QueryOptions): IngressTraffic {
  const address = new URL(`${url.replace(/\/+$/, "")}/api/v1/query`);
  address.searchParams.set("query", query);
  return trafficOf({
    namespacesOf: (namespace) => [namespace],
    async read(namespaces, signal) {
      const headers = present({ authorization: await authorization(readToken) });
      const text = await exchange({ ...options, url: address, name: NAME, headers, signal }, textOf);
      return { instances: [NAME], totals: new Map([[NAME, totalsOf(text, namespaces)]]) };
    },
  });
}

async function authorization(readToken: QueryOptions["readToken"]): Promise<string | undefined> {
  try {
    return readToken && `Bearer ${(await readToken()).reveal()}`;
  } catch (cause) {
    throw new IngressTrafficUnavailable(`the file of Prometheus' token can't be read (${errorCode(cause)})`, { cause });
  }
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/#instant-vectors */
interface Answer {
  readonly status?: unknown;
  /** Something of the result is missing. */
  readonly warnings?: readonly unknown[];
  readonly data?: {
    readonly resultType?: unknown;
    readonly result?: unknown;
  };
}

interface Labels {
  readonly exported_namespace?: string;
  readonly namespace?: string;
}

function totalsOf(text: string, namespaces: ReadonlySet<string>): Totals {
  const rows = rowsOf(text);
  const totals = new Map<string, number>();
  let isNamed = false;
  for (const row of rows) {
    const { metric, value } = Object(row) as { metric?: unknown; value?: unknown };
    const { exported_namespace: exported, namespace } = Object(metric) as Labels;
    const name = exported ?? namespace;
    isNamed ||= name !== undefined;
    if (name === undefined || !namespaces.has(name)) continue;
    totals.set(name, (totals.get(name) ?? 0) + countOf(value));
  }
  if (isNamed) return totals;
  const missing = rows.length === 0 ? "is empty" : "has no label namespace or exported_namespace";
  throw new IngressTrafficUnavailable(`the result of Prometheus' query ${missing}`);
}

function rowsOf(text: string): readonly unknown[] {
  const { status, warnings = [], data } = answerOf(text) ?? {};
  if (status !== "success" || data?.resultType !== "vector" || !Array.isArray(data.result)) {
    throw new IngressTrafficUnavailable("Prometheus' answer is an error, or no instant vector");
  }
  if (warnings.length > 0)
    throw new IngressTrafficUnavailable("Prometheus' answer has warnings: it may lack something");
  return data.result;
}

function answerOf(text: string): Answer | null {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new IngressTrafficUnavailable("Prometheus' answer is not JSON", { cause });
  }
}

function countOf(value: unknown): number {
  const count = Array.isArray(value) && typeof value[1] === "string" ? Number(value[1]) : Number.NaN;
  if (count >= 0 && count < Number.POSITIVE_INFINITY) return count;
  throw new IngressTrafficUnavailable("the result of Prometheus' query has a value that is no count");
}

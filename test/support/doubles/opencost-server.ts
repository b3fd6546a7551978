import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HOUR_MS } from "../../../crds/durations.ts";
import { requestTarget } from "../../../deploy/local/network/request-target.ts";
import type { HourOfNamespace } from "./memory/costs/cost-monitor.ts";

/** The answer from now on; `normal`: as OpenCost. */
type Mood = "normal" | "hangs" | Answer;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly location?: string;
}

/** The allocation API of OpenCost on loopback. */
export interface OpenCostServer {
  readonly url: string;
  /** Received queries. */
  readonly requested: readonly URLSearchParams[];
  knows(...hours: readonly HourOfNamespace[]): void;
  answers(mood: Mood): void;
  stop(): Promise<void>;
}

const UNIT = 100_000;

export async function startOpenCostServer(): Promise<OpenCostServer> {
  const known: HourOfNamespace[] = [];
  const requests: URLSearchParams[] = [];
  let mood: Mood = "normal";
  const server = createServer((request, response) => {
    const target = requestTarget(request);
    if (target === undefined) return void response.writeHead(400).end();
    requests.push(target.searchParams);
    if (mood === "hangs") return;
    const { status, body, location } = mood === "normal" ? usual(request.method, target, known) : mood;
    response.writeHead(status, { "content-type": "application/json", ...(location && { location }) }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requested: requests,
    knows: (...hours) => void known.push(...hours),
    answers(next) {
      mood = next;
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function usual(method: string | undefined, { pathname, searchParams }: URL, known: readonly HourOfNamespace[]): Answer {
  const isFound = method === "GET" && pathname === "/allocation/compute";
  return isFound
    ? { status: 200, body: JSON.stringify(answerTo(searchParams, known)) }
    : { status: 404, body: "404 page not found" };
}

/** Answer to a query; without a step there is one set, of the whole window. Adjustments are separate, and part of the total. */
function answerTo(query: URLSearchParams, known: readonly HourOfNamespace[]): object {
  if (query.get("aggregate") !== "namespace") throw new Error("the double aggregates by namespace alone");
  const window = (query.get("window") ?? "").split(",");
  if (!window.every((moment) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(moment))) return { code: 400, data: null };
  const [start = "", end = ""] = window;
  const [fromMs, toMs] = [Date.parse(start), Date.parse(end)];
  const isIn = ({ at }: HourOfNamespace) => Date.parse(at) >= fromMs && Date.parse(at) + HOUR_MS <= toMs;
  const set: Record<string, object> = { __idle__: row("__idle__", { start, end }, { cpuCost: 7, totalCost: 7 }) };
  for (const namespace of new Set(known.map((one) => one.namespace))) {
    const hours = known.filter((one) => one.namespace === namespace && isIn(one)).map(({ cost }) => cost);
    const sum = (part: "cpu" | "memory" | "storage" | "other") =>
      hours.reduce((total, cost) => total + cost[part], 0) / UNIT;
    if (hours.length === 0) continue;
    set[namespace] = row(namespace, { start, end }, amounts(sum("cpu"), sum("memory"), sum("storage"), sum("other")));
  }
  return { code: 200, data: [set] };
}

function amounts(cpu: number, ram: number, pv: number, other: number): Readonly<Record<string, number>> {
  return {
    cpuCost: cpu * 2,
    cpuCostAdjustment: -cpu,
    cpuEfficiency: 0.1,
    ramCost: ram,
    ramCostAdjustment: 0,
    pvCost: pv,
    pvCostAdjustment: 0,
    gpuCost: 0,
    gpuCostAdjustment: 0,
    networkCost: other,
    networkCostAdjustment: 0,
    loadBalancerCost: 0,
    loadBalancerCostAdjustment: 0,
    sharedCost: 0,
    externalCost: 0,
    totalCost: cpu + ram + pv + other,
  };
}

function row(name: string, window: { start: string; end: string }, costs: Readonly<Record<string, number>>): object {
  const properties = { cluster: "default-cluster", ...(name.startsWith("__") ? {} : { namespace: name }) };
  return { name, properties, window, ...window, minutes: 60, pvs: null, ...costs, totalEfficiency: 0.4 };
}

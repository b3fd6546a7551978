import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { IngressController } from "../../../config/activity.schema.ts";
import { errorCode } from "../../kit/error-code.ts";
import { orAborted } from "../../kit/time/deadline.ts";
import { type IngressTraffic, IngressTrafficUnavailable } from "../../ports/ingress-traffic.ts";
import { CONTROLLERS, type ControllerMetrics } from "./controllers.ts";
import { type Bounds, exchange, TIMEOUT_MS } from "./exchange.ts";
import { eachLine, type Labels, sampleName, sampleOf } from "./exposition.ts";
import { type Reading, type Totals, trafficOf } from "./readings.ts";

interface ScrapeOptions extends Bounds {
  readonly controller: IngressController;
  /** Addresses of metrics in Prometheus' text format; a name stands for each of its addresses. */
  readonly urls: readonly string[];
  /** CA of their certificates, in PEM. */
  readonly ca?: string | undefined;
  /** Addresses of a name; the system's by default. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
}

/** A process of the controller. */
interface Instance {
  readonly name: string;
  readonly url: URL;
  readonly address: LookupAddress;
}

interface Scraped {
  readonly totals: Totals;
  /** True with a sample of any namespace. */
  readonly hasCounter: boolean;
}

/** Bounds the connections and the memory of a reading. */
const MOST_INSTANCES = 64;
const HEADERS = { accept: "text/plain;version=0.0.4" };

/**
 * IngressTraffic over the metrics of the controller's instances, each scraped by itself. The counter of one that passed on no
 * request yet is missing, so only a URL of whose instances none has it, for any namespace, is a failure.
 */
export function scrapedTraffic(options: ScrapeOptions): IngressTraffic {
  const metrics = CONTROLLERS[options.controller];
  const { resolve = (host: string) => lookup(host, { all: true }), timeoutMs = TIMEOUT_MS } = options;
  const urls = options.urls.map((url) => new URL(url));

  const instances = async (signal: AbortSignal) => {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const found = (await Promise.all(urls.map((url) => orAborted(instancesOf(url, resolve), deadline)))).flat();
    if (found.length <= MOST_INSTANCES) return found;
    throw new IngressTrafficUnavailable(`there are ${found.length} instances, and at most ${MOST_INSTANCES} are read`);
  };

  return trafficOf({
    namespacesOf: metrics.namespacesOf,
    async read(namespaces, signal) {
      const found = await instances(signal).catch((cause: unknown) => {
        if (cause instanceof IngressTrafficUnavailable) throw cause;
        throw new IngressTrafficUnavailable(`the controller's addresses are unknown (${errorCode(cause)})`, { cause });
      });
      const scrape = (one: Instance) =>
        exchange({ ...options, ...one, headers: HEADERS, signal }, (body) =>
          scraped(body, { metrics, namespaces, one }),
        );
      return readingOf(found, await Promise.allSettled(found.map(scrape)), { metrics, urls });
    },
  });
}

async function instancesOf(url: URL, resolve: NonNullable<ScrapeOptions["resolve"]>): Promise<readonly Instance[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = isIP(host);
  const addresses = literal === 0 ? await resolve(host) : [{ address: host, family: literal }];
  // An instance with addresses of both families is one.
  const family = Math.min(...addresses.map((one) => one.family));
  return addresses
    .filter((one) => one.family === family)
    .map((address) => ({ name: literal === 0 ? `${url} at ${address.address}` : url.href, url, address }));
}

interface ScrapeContext {
  readonly metrics: ControllerMetrics;
  /** Namespaces that count. */
  readonly namespaces: ReadonlySet<string>;
  readonly one: Instance;
}

async function scraped(body: AsyncIterable<Uint8Array>, { metrics, namespaces, one }: ScrapeContext): Promise<Scraped> {
  const totals = new Map<string, number>();
  let isController = false;
  let hasCounter = false;
  await eachLine(body, (line) => {
    const name = sampleName(line) ?? "";
    isController ||= name.startsWith(metrics.prefix);
    if (!metrics.isCounter(name)) return;
    const { labels, count } = countOf(line, one);
    const subject = metrics.subjectOf(labels);
    const found = metrics.namespacesOf(subject);
    // One that counts for itself alone, such as Envoy with other names of clusters, counts nothing for environments.
    hasCounter ||= found.length > 0;
    if (found.some((namespace) => namespaces.has(namespace))) totals.set(subject, (totals.get(subject) ?? 0) + count);
  });
  if (isController) return { totals, hasCounter };
  throw new IngressTrafficUnavailable(`${one.name} answered without a metric ${metrics.prefix}…`);
}

function countOf(line: string, { name }: Instance): { readonly labels: Labels; readonly count: number } {
  const sample = sampleOf(line);
  if (sample !== undefined && sample.value >= 0 && sample.value < Number.POSITIVE_INFINITY) {
    return { labels: sample.labels, count: sample.value };
  }
  throw new IngressTrafficUnavailable(`${name} answered a line of its counter that is no count`);
}

function readingOf(
  instances: readonly Instance[],
  answers: readonly PromiseSettledResult<Scraped>[],
  { metrics, urls }: { readonly metrics: ControllerMetrics; readonly urls: readonly URL[] },
): Reading {
  const totals = new Map<string, Totals>();
  const without = new Set(urls.map(({ href }) => href));
  let failure: unknown;
  for (const [index, { name, url }] of instances.entries()) {
    const answer = answers[index];
    if (answer?.status === "fulfilled") totals.set(name, answer.value.totals);
    else failure ??= answer?.reason;
    if (answer?.status === "rejected" || answer?.value.hasCounter) without.delete(url.href);
  }
  const [url] = without;
  if (url !== undefined) failure ??= new IngressTrafficUnavailable(`${url} answered without ${metrics.counter}`);
  return { instances: instances.map(({ name }) => name), totals, failure };
}

/**
 * Measures the web console in a browser, on the platform's real process beside ten thousand environments: the times until it
 * is usable, until it shows a change, and until the list's next page.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../../clients/sdk/index.ts";
import { buildClients } from "../../../deploy/clients/build.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { createWorld } from "../../support/worlds/environment-world.ts";
import { makeCrowd } from "../api/crowd.ts";
import { spread } from "../api/spread.ts";
import { type IdleServer, startIdleServer } from "../idle.ts";
import { leadElsewhere } from "../lead-elsewhere.ts";
import { type Openings, optionsOf, runBenchmark } from "../run-benchmark.ts";
import { median } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { openBrowser, type Reader } from "./reader.ts";
import { servedConsole } from "./served-console.ts";

const options = optionsOf(
  {
    environments: { value: "10000", help: "how many there are" },
    rounds: { value: "20", help: "how often each is measured" },
  },
  "Debian's chromium-headless-shell must be there; CHROMIUM names another browser. It takes about two minutes.",
);
const rounds = Number(options.rounds);
const DEADLINE_MS = 30_000;

await runBenchmark(measure);

async function measure(openings: Openings): Promise<readonly Verdict[]> {
  await buildClients();
  const world = await openings.open(createWorld({ etcdGateway: true }));
  const direct = createKubeClient({ kubeConfig: world.identity.kubeConfig, connections: 1 });
  await openings.open({ stop: () => direct.close() });
  await makeCrowd(world, Number(options.environments), "outsider");
  await leadElsewhere(world);
  const served = await openings.open(servedConsole(world));
  const client = createClient({ url: served.url, token: served.token });
  const reader = await openings.open(openBrowser(served));
  const idle = await openings.open(startIdleServer());
  return [
    await measureOpening(reader, idle),
    await measureChanges(reader, { direct, client }),
    await measurePages(reader, client),
  ];
}

async function measureOpening(reader: Reader, idle: IdleServer): Promise<Verdict> {
  const opened: number[] = [];
  const empty: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const page = await reader.openConsole();
    opened.push(page.usableMs);
    bytes = await page.loadedBytes();
    await page.stop();
    empty.push(await reader.openEmpty(`${idle.url}/?bytes=${bytes}`));
  }
  return {
    what: "console opened until it can be used, p50, beside a page that does nothing",
    limit: 6,
    unit: "×",
    figure: median(opened) / median(empty),
    detail: `console ${spread(opened)}; a page of one answer with the same ${(bytes / 1024).toFixed(0)} KiB ${spread(empty)}`,
  };
}

/** Measures the time from a write of the status to the row that shows it; a Node client of the same stream is measured as well. */
async function measureChanges(
  reader: Reader,
  { direct, client }: { readonly direct: KubeClient; readonly client: Client },
): Promise<Verdict> {
  const page = await reader.openConsole();
  const names = await page.names();
  const reported = new Map<string, (at: number) => void>();
  const stop = new AbortController();
  const opened = Promise.withResolvers<void>();
  const following = (async () => {
    const events = client.follow("GET /api/v2/watch/environments", { signal: stop.signal, opened: opened.resolve });
    for await (const { data } of events)
      reported.get(`${data.environment?.name} ${data.environment?.status}`)?.(performance.now());
  })();
  await Promise.race([opened.promise, following]);
  const shown: number[] = [];
  const streamed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const name = names[round % names.length] as string;
    const phase = Math.floor(round / names.length) % 2 === 0 ? "updating" : "ready";
    const isReported = Promise.withResolvers<number>();
    reported.set(`${name} ${phase}`, isReported.resolve);
    const isShown = await page.untilRowSays(name, phase);
    const began = performance.now();
    await direct.patch(environmentType, { name }, { status: { phase } }, { as: "merge", subresource: "status" });
    const times = Promise.all([isShown.at(), isReported.promise]);
    const [shownAt, reportedAt] = await inTime(times, `${name} being shown as ${phase}`);
    shown.push(shownAt - (performance.timeOrigin + began));
    streamed.push(reportedAt - began);
  }
  stop.abort();
  await Promise.all([following.catch(() => undefined), page.stop()]);
  return {
    what: "change of a status until its row shows it, p50, beside its event",
    limit: 3,
    unit: "×",
    figure: median(shown) / median(streamed),
    detail: `row ${spread(shown)}; event of the stream in Node ${spread(streamed)}, both with the write`,
  };
}

/** Fails beyond the longest acceptable time. */
function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  const late = delay(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`waited ${DEADLINE_MS / 1000} s for ${what}`);
  });
  return Promise.race([work, late]);
}

/** Measures the time from the press of "Older" to the rows of the next page, beside a Node client's same call. */
async function measurePages(reader: Reader, client: Client): Promise<Verdict> {
  const page = await reader.openConsole();
  const shown: number[] = [];
  const requested: number[] = [];
  const limit = 50;
  for (let round = 1; round <= rounds; round += 1) {
    shown.push(await page.older());
    const began = performance.now();
    await client.call("GET /api/v2/environments", { query: { limit, offset: round * limit } });
    requested.push(performance.now() - began);
  }
  await page.stop();
  return {
    what: "next page of the list until its rows are there, p50, beside its call",
    limit: 15,
    unit: "×",
    figure: median(shown) / median(requested),
    detail: `page ${spread(shown)}; its call in Node ${spread(requested)}`,
  };
}

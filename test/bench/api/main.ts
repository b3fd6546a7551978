import { availableParallelism } from "node:os";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { platformProcess } from "../../support/plane/platform-process.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";
import { startIdleServer } from "../idle.ts";
import { leadElsewhere } from "../lead-elsewhere.ts";
import { type Openings, optionsOf, runBenchmark } from "../run-benchmark.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { LIST_QUERY, makeCrowd, memberName, plainEnvironment, sameList } from "./crowd.ts";
import { makeHistory, measureDashboards } from "./dashboards.ts";
import { call, inTurn, load, type Sample } from "./load.ts";
import { spread } from "./spread.ts";

const options = optionsOf(
  {
    environments: { value: "10000", help: "how many there are" },
    seconds: { value: "30", help: "how long calls are made at 200 a second" },
  },
  "Ten thousand take about four minutes and 4 GB of memory.",
);
const environments = Number(options.environments);
const PER_SECOND = 200;
/** Time for V8's compilation; the process runs for weeks. */
const WARM_UP_SECONDS = 10;
/** The idle server and the platform are measured in turn. */
const ROUNDS = 6;
const LIST_PATH = `/api/environments?${LIST_QUERY}`;
const ENOUGH = 1_000_000;

await runBenchmark(measure);

interface Served {
  readonly url: string;
  readonly authorization: string;
  readonly direct: KubeClient;
}

async function measure(openings: Openings): Promise<readonly Verdict[]> {
  const world = await openings.open(createWorld({ etcdGateway: true }));
  const issuer = await openings.open(startTokenIssuer());
  const direct = createKubeClient({ kubeConfig: world.identity.kubeConfig, connections: 1 });
  await openings.open({ stop: () => direct.close() });
  await makeCrowd(world, environments, `${issuer.issuer}#dev`);
  await makeHistory(world, environments);
  progress(`${environments} environments are in etcd, as many records, and rollups of 400 days`);
  const platform = await openings.open(preparedPlatform(world, issuer));
  await platform.start();
  const claims = { sub: "dev", email: "dev@example.test", groups: ["developers"] };
  const served = { url: platform.url, authorization: `Bearer ${await issuer.sign(claims)}`, direct };
  await expectSameAnswers(served);
  const seconds = Number(options.seconds);
  return [
    ...(await measureLoad(openings, served)),
    ...(await measureReads(served)),
    await measureCreations(served),
    ...(await measureDashboards(openings, { ...served, probesUrl: platform.probesUrl, seconds })),
  ];
}

async function preparedPlatform(world: World, { issuer }: TokenIssuer) {
  await leadElsewhere(world);
  return platformProcess(world.identity, {
    ...testSettings,
    leaderElection: true,
    api: {
      issuers: [{ issuer, audience: AUDIENCE, roles: { developer: ["developers"] } }],
      limits: { authenticatedPerMinute: ENOUGH, unauthenticatedPerMinute: ENOUGH },
    },
  });
}

function ask({ url, authorization }: Served, path: string): Promise<string> {
  return call(url + path, { authorization });
}

/** Latencies at a fixed rate of calls, half for one environment and half for the list. */
async function measureLoad(openings: Openings, served: Served): Promise<Verdict[]> {
  const idle = await openings.open(startIdleServer((await ask(served, LIST_PATH)).length));
  const calls = { authorization: served.authorization, perSecond: PER_SECOND, path: pathOf };
  for (const { url } of [idle, served]) await load({ ...calls, url, seconds: WARM_UP_SECONDS });
  const idleMs: number[] = [];
  const samples: Sample[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seconds = Number(options.seconds) / ROUNDS;
    idleMs.push(...(await load({ ...calls, url: idle.url, seconds })).map(({ ms }) => ms));
    samples.push(...(await load({ ...calls, url: served.url, seconds })));
  }
  const lists = samples.filter(({ path }) => path === LIST_PATH).map(({ ms }) => ms);
  const gets = samples.filter(({ path }) => path !== LIST_PATH).map(({ ms }) => ms);
  const verdict = (what: string, { ms, share, limit }: { ms: number[]; share: number; limit: number }): Verdict => ({
    what: `${what}, p${share * 100}, beside a server that does nothing`,
    limit,
    unit: "×",
    figure: quantile(ms, share) / quantile(idleMs, share),
    detail: `${spread(ms)}; that server, with a list's bytes: ${spread(idleMs)}; ${PER_SECOND} calls a second, ${availableParallelism()} cores`,
  });
  return [
    verdict("GET one", { ms: gets, share: 0.5, limit: 3.2 }),
    verdict("GET one", { ms: gets, share: 0.99, limit: 2.7 }),
    verdict("list of 50", { ms: lists, share: 0.5, limit: 6 }),
    verdict("list of 50", { ms: lists, share: 0.99, limit: 3.8 }),
  ];
}

/** Consecutive calls, in short turns, so that other load on the machine affects both alike. */
async function measureReads(served: Served): Promise<Verdict[]> {
  const { direct } = served;
  const one = { platform: [] as number[], direct: [] as number[] };
  const list = { platform: [] as number[], direct: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    one.platform.push(...(await inTurn(200, (index) => ask(served, `/api/environments/${memberName(index)}`))));
    one.direct.push(...(await inTurn(200, (index) => direct.find(environmentType, { name: memberName(index) }))));
    list.platform.push(...(await inTurn(20, () => ask(served, LIST_PATH))));
    list.direct.push(...(await inTurn(2, async () => sameList((await direct.list(environmentType)).items))));
  }
  const detail = ({ platform, direct }: { platform: number[]; direct: number[] }) =>
    `platform ${spread(platform)}; directly ${spread(direct)}`;
  return [
    {
      what: "GET one, beside the API server's own",
      limit: 0.42,
      unit: "×",
      detail: detail(one),
      figure: median(one.platform) / median(one.direct),
    },
    {
      what: "lists in the time of the API server's own",
      limit: 800,
      isAtLeast: true,
      unit: "",
      detail: detail(list),
      figure: median(list.direct) / median(list.platform),
    },
  ];
}

async function measureCreations({ url, authorization, direct }: Served): Promise<Verdict> {
  const posts: number[] = [];
  const writes: number[] = [];
  const body = (name: string) => ({ environment_name: name, backend_repo: "test-backend", backend_branch: "main" });
  const post = (name: string) => call(`${url}/api/environments`, { authorization }, body(name));
  const write = (name: string) => direct.create(environmentType, plainEnvironment(name));
  for (let round = 0; round < 10; round += 1) {
    posts.push(...(await inTurn(10, (index) => post(`posted-${round}-${index}`))));
    writes.push(...(await inTurn(10, (index) => write(`written-${round}-${index}`))));
  }
  return {
    what: "POST, p50, beside the write of the same resource",
    limit: 2.6,
    unit: "×",
    figure: median(posts) / median(writes),
    detail: `platform ${spread(posts)}; directly ${spread(writes)}`,
  };
}

/** Half of the calls read one environment, half the list. */
function pathOf(index: number): string {
  return index % 2 === 0 ? LIST_PATH : `/api/environments/${memberName((index * 7919) % environments)}`;
}

/** Waits until the last environment is served. A ratio of different answers would mean nothing. */
async function expectSameAnswers(served: Served): Promise<void> {
  const last = `/api/environments/${memberName(environments - 1)}`;
  const isServed = () => ask(served, last).then(Boolean, () => false);
  await until(isServed, { what: "the last environment being served", deadlineMs: 300_000 });
  const answer = JSON.parse(await ask(served, LIST_PATH)) as { environments: object[]; total: number };
  const { items } = await served.direct.list(environmentType);
  const expected = sameList(items).length;
  if (answer.environments.length === expected && answer.total >= expected) return;
  const { length } = answer.environments;
  throw new Error(`the platform lists ${length} (of ${answer.total}), the API server's list has ${expected}`);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Measures the REST interface: the real process beside ten thousand environments, at a fixed rate of calls, and the same
 * questions asked of the API server directly in the same run. Nothing of it is left behind.
 */
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { leases, microTime } from "../../../operator/kit/leader/lease.ts";
import { createWorld } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer } from "../../support/http/token-issuer.ts";
import { platformProcess } from "../../support/plane/platform-process.ts";
import { startIdleServer } from "../idle.ts";
import { quantile } from "../table.ts";
import { report, type Verdict } from "../verdict.ts";
import { LIST_QUERY, makeCrowd, memberName, sameList } from "./crowd.ts";
import { call, inTurn, load, type Sample } from "./load.ts";

const usage = `Usage: main.ts [--environments N] [--seconds N]

  --environments N   how many there are (ENVIRONMENTS, default 10000)
  --seconds N        how long calls are made at 200 a second (SECONDS, default 30)
  --help             this text
`;

const { values } = parseArgs({
  options: {
    environments: { type: "string", default: process.env.ENVIRONMENTS ?? "10000" },
    seconds: { type: "string", default: process.env.SECONDS ?? "30" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const environments = Number(values.environments);
const PER_SECOND = 200;
/** What V8 takes to make the code fast; the process runs for weeks. */
const WARM_UP_SECONDS = 10;
/** The machine's own lateness is measured in turns with the platform's. */
const ROUNDS = 3;
const LIST_PATH = `/api/environments?${LIST_QUERY}`;
const ENOUGH = 1_000_000;

const world = await createWorld({ etcdGateway: true });
const issuer = await startTokenIssuer();
const direct = createKubeClient({ kubeConfig: world.identity.kubeConfig, connections: 1 });
const verdicts: Verdict[] = [];
const stops: (() => Promise<unknown>)[] = [() => direct.close(), () => issuer.stop(), () => world.stop()];
try {
  await makeCrowd(world, environments, `${issuer.issuer}#dev`);
  progress(`${environments} environments are in etcd`);
  await leadElsewhere();
  const platform = await platformProcess(world.identity, {
    ...testSettings,
    leaderElection: true,
    api: {
      issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { developer: ["developers"] } }],
      limits: { authenticatedPerMinute: ENOUGH, unauthenticatedPerMinute: ENOUGH },
    },
  });
  stops.unshift(() => platform.stop());
  await platform.start();
  const authorization = `Bearer ${await issuer.sign({ sub: "dev", email: "dev@example.test", groups: ["developers"] })}`;
  const ask = (path: string) => call(platform.url + path, { authorization });
  await until(
    () =>
      ask(`/api/environments/${memberName(environments - 1)}`).then(
        () => true,
        () => false,
      ),
    {
      ...{ what: "the last environment being served", deadlineMs: 300_000 },
    },
  );
  await expectSameAnswers(ask);

  const bare = await startIdleServer((await ask(LIST_PATH)).length);
  stops.unshift(() => bare.stop());
  const calls = { authorization, perSecond: PER_SECOND, path: pathOf };
  for (const { url } of [bare, platform]) await load({ ...calls, url, seconds: WARM_UP_SECONDS });
  const samples: Sample[] = [];
  const own: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seconds = Number(values.seconds) / ROUNDS;
    own.push(...(await load({ ...calls, url: bare.url, seconds })).map(({ ms }) => ms));
    samples.push(...(await load({ ...calls, url: platform.url, seconds })));
  }
  const lists = samples.filter(({ path }) => path === LIST_PATH).map(({ ms }) => ms);
  const gets = samples.filter(({ path }) => path !== LIST_PATH).map(({ ms }) => ms);
  const served = `${environments} environments, ${PER_SECOND} calls a second, ${availableParallelism()} cores`;
  const detail = (ms: readonly number[]) =>
    `${spread(ms)}; a server that answers a list's bytes and does nothing, in the same minute: ${spread(own)}; ${served}`;
  verdicts.push(
    { what: "GET one, p99", figure: quantile(gets, 0.99), limit: 5, unit: "ms", detail: detail(gets) },
    { what: "list of 50, p99", figure: quantile(lists, 0.99), limit: 10, unit: "ms", detail: detail(lists) },
  );

  // In turns of a few, so that whatever else the machine does meets both alike.
  const one = { facade: [] as number[], direct: [] as number[] };
  const list = { facade: [] as number[], direct: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    one.facade.push(...(await inTurn(200, (index) => ask(`/api/environments/${memberName(index)}`))));
    one.direct.push(...(await inTurn(200, (index) => direct.find(environmentType, { name: memberName(index) }))));
    list.facade.push(...(await inTurn(20, () => ask(LIST_PATH))));
    list.direct.push(...(await inTurn(2, async () => sameList((await direct.list(environmentType)).items))));
  }
  verdicts.push(
    ratio("GET one, beside the API server's own", one, 0.5),
    ratio("list, beside the API server's own", list, 0.05),
  );

  const creations = await inTurn(100, (index) =>
    call(
      `${platform.url}/api/environments`,
      { authorization },
      {
        ...{ environment_name: `made-${index}`, backend_repo: "test-backend", backend_branch: "main" },
      },
    ),
  );
  verdicts.push({
    what: "POST, p50",
    figure: quantile(creations, 0.5),
    limit: 30,
    unit: "ms",
    detail: spread(creations),
  });
} finally {
  for (const stop of stops) await stop();
}
console.log(report(verdicts));
console.log(
  `load averages at the end: ${loadavg()
    .map((average) => average.toFixed(1))
    .join(", ")}`,
);

/** Half of the calls ask for one environment, half for the list. */
function pathOf(index: number): string {
  return index % 2 === 0 ? LIST_PATH : `/api/environments/${memberName((index * 7919) % environments)}`;
}

/** A ratio of two that answer differently would say nothing. */
async function expectSameAnswers(ask: (path: string) => Promise<string>): Promise<void> {
  const { environments: served, total } = JSON.parse(await ask(LIST_PATH)) as { environments: object[]; total: number };
  const { items } = await direct.list(environmentType);
  const expected = sameList(items);
  if (served.length !== expected.length || total < served.length) {
    throw new Error(`the facade lists ${served.length} (of ${total}), the API server's list has ${expected.length}`);
  }
}

/** The lease is another's: the process serves, and reconciles nothing. */
async function leadElsewhere(): Promise<void> {
  await world.admin.create(leases, {
    metadata: { name: "platform", namespace: "ephemeral-system" },
    spec: {
      ...{ holderIdentity: "the benchmark", leaseDurationSeconds: 86_400, leaseTransitions: 0 },
      ...{ acquireTime: microTime(new Date()), renewTime: microTime(new Date()) },
    },
  });
}

function ratio(what: string, { facade, direct }: { facade: number[]; direct: number[] }, limit: number): Verdict {
  const figure = quantile(facade, 0.5) / quantile(direct, 0.5);
  return { what, figure, limit, unit: "×", detail: `facade ${spread(facade)}; directly ${spread(direct)}` };
}

function spread(samples: readonly number[]): string {
  const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)];
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, longest ${Math.max(...samples).toFixed(1)} ms, n=${samples.length}`;
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

import { deliveryName, isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { environmentType, webhookDeliveryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { leases } from "../../../operator/kit/leader/leader-election.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { platformProcess } from "../../support/plane/platform-process.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";
import { atRate, type Rate } from "../at-rate.ts";
import { leadElsewhere } from "../lead-elsewhere.ts";
import { type Openings, optionsOf, runBenchmark } from "../run-benchmark.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import {
  eventOf,
  PROJECTS,
  PULL_REQUESTS,
  type PullRequestEvent,
  registerProjects,
  webhookSettings,
} from "./projects.ts";
import { type Answer, Sender } from "./sender.ts";
import { Trouble } from "./trouble.ts";

const options = optionsOf(
  {
    seconds: { value: "300", help: "how long 50 deliveries a second come" },
    burst: { value: "1000", help: "how many deliveries come within one second" },
  },
  "A plain client writes for as long, in slices of ten seconds in turns with the platform.",
);
const PER_SECOND = 50;
/** Length of a slice of both sides: on an overloaded machine a queue grows during one. */
const SLICE_SECONDS = 10;
const namespace = "ephemeral-system";
/** The operator's time for a killed process's work; it takes over after 30 s. */
const SETTLED_WITHIN_MS = 180_000;
const SPEC = { source: "repohost", eventName: "push", verified: true, event: { type: "other" } } as const;
const OUTCOME = { phase: "ignored", reason: "Benchmark", message: "" };

// The API server takes most of two processors, a seventh of it for garbage collection, which would delay both sides.
process.env.GOGC ??= "400";
await runBenchmark(measure);

async function measure(openings: Openings): Promise<readonly Verdict[]> {
  const world = await openings.open(createWorld({ etcdGateway: true }));
  const direct = createKubeClient({ kubeConfig: world.identity.kubeConfig });
  await openings.open({ stop: () => direct.close() });
  await registerProjects(world);
  // Until the process is killed it only serves: other benchmarks measure reconciles.
  await leadElsewhere(world);
  const settings = { ...testSettings, leaderElection: true, webhooks: webhookSettings };
  const platform = await openings.open(platformProcess(world.identity, settings));
  await platform.start();
  const sender = new Sender(platform, eventOf);
  await openAll(sender);
  const steady = await measureRate(sender, direct);
  const neighbours = await measureNeighbours(sender, openings, world);
  const burst = await measureBurst(sender);
  return [steady, neighbours, burst, await measureLoss(sender, world)];
}

/** Every pull request has its environment before the measurement. */
async function openAll(sender: Sender<PullRequestEvent>): Promise<void> {
  // The process serves before its caches are complete.
  const isServed = async () => (await sender.send()).status === 200;
  await until(isServed, { what: "the first delivery being accepted", deadlineMs: 60_000 });
  for (let index = 0; index < PROJECTS * PULL_REQUESTS; index += 1) expectAccepted(await sender.send());
}

function expectAccepted({ status }: Answer): void {
  if (status !== 200) throw new Error(`a delivery was answered ${status}`);
}

/**
 * The p99 of an answer at a steady rate, beside a plain client at the same rate. Both write the same to the API server: a
 * delivery, an environment's commit, and then the outcome. The figure is the platform's addition to a host's wait: HTTP,
 * signature, decision, audit log. It does not show if the machine sustains the rate; otherwise both wait in a queue, as
 * their longest answers show.
 */
async function measureRate(sender: Sender<PullRequestEvent>, direct: KubeClient): Promise<Verdict> {
  const sides: Sides = { ours: [], plain: [] };
  const { slices, rate } = slicesOf(Number(options.seconds));
  for (let slice = 0; slice < slices; slice += 1) {
    sides.ours.push(await atRate(rate, async () => expectAccepted(await sender.send())));
    sides.plain.push(await plainSlice(direct, rate, `${slice}`));
  }
  return {
    what: `answer at ${PER_SECOND} a second, a slice's p99, beside a plain client's two writes`,
    limit: 3,
    unit: "×",
    figure: besidePlain(sides),
    detail: `platform ${spread(sides.ours)}; plain client ${spread(sides.plain)}; ${PROJECTS} projects, ${PROJECTS * PULL_REQUESTS} pull requests`,
  };
}

function slicesOf(seconds: number) {
  const slices = Math.max(1, Math.round(seconds / SLICE_SECONDS));
  return { slices, rate: { perSecond: PER_SECOND, seconds: seconds / slices } };
}

/**
 * The answer's p99 while one Repository floods and the git host of another is silent, beside the answer's before and
 * after. Meanwhile the API server's store grows and the machine changes: half of the calm slices lie on either side, and
 * the median slice counts.
 */
async function measureNeighbours(sender: Sender<PullRequestEvent>, openings: Openings, world: World): Promise<Verdict> {
  const seconds = Number(options.seconds);
  const measure = async (seconds: number, trouble?: Trouble): Promise<number[][]> => {
    const { slices, rate } = slicesOf(seconds);
    const taken: number[][] = [];
    for (let slice = 0; slice < slices; slice += 1) {
      const answers = atRate(rate, async () => expectAccepted(await sender.send()));
      const [took] = await Promise.all([answers, trouble?.goOn(rate)]);
      taken.push(took);
    }
    return taken;
  };
  const before = await measure(seconds / 2);
  const trouble = await openings.open(Trouble.begin(world, sender.platform));
  const [flood, silent] = await trouble.backlog();
  const troubled = await measure(seconds, trouble);
  await trouble.forget();
  const after = await measure(seconds / 2);
  const calm = [...before, ...after];
  return {
    what: "answer to others, a slice's p99, beside a flood and a silent host",
    limit: 1.5,
    unit: "×",
    figure: p99(troubled) / p99(calm),
    detail: `with them ${spread(troubled)}; before ${spread(before)}; after ${spread(after)}; their first thousand: flood ${flood}; silent ${silent}`,
  };
}

/** Milliseconds by slice: the platform's answers, and a plain client's two writes in the slice after it. */
interface Sides {
  readonly ours: number[][];
  readonly plain: number[][];
}

/** The median of what a slice's p99 is, as a multiple of the plain client's in the slice after it. */
function besidePlain({ ours, plain }: Sides): number {
  return median(ours.map((slice, index) => quantile(slice, 0.99) / quantile(plain[index] ?? [], 0.99)));
}

/** The least work for a delivery: it is stored, and an environment gets another commit. Answers the time of both writes. */
async function plainSlice(direct: KubeClient, rate: Rate, slice: string): Promise<number[]> {
  // The platform stores the outcome after its answer, too; without one it would count as pending.
  const outcomes: Promise<unknown>[] = [];
  const took = await atRate(rate, async (index) => {
    const { environment, commit } = eventOf(index);
    const digest = "0".repeat(64);
    const name = deliveryName({ source: "repohost", deliveryId: `plain-${slice}-${index}`, digest });
    const spec = { ...SPEC, digest, receivedAt: new Date().toISOString() };
    await direct.create(webhookDeliveryType, { metadata: { name, namespace }, spec });
    await direct.patch(environmentType, { name: environment }, { spec: { backend: { commit } } }, { as: "merge" });
    const ref = { name, namespace };
    outcomes.push(direct.patch(webhookDeliveryType, ref, { status: OUTCOME }, { as: "merge", subresource: "status" }));
  });
  await Promise.all(outcomes);
  return took;
}

/** A second's burst: each delivery is acknowledged, or refused so that its host retries. */
async function measureBurst(sender: Sender<PullRequestEvent>): Promise<Verdict> {
  const answers = await Promise.all(Array.from({ length: Number(options.burst) }, () => sender.send()));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const fine = answers.filter(
    ({ status, retryAfter }) => status === 200 || (status === 503 && retryAfter !== undefined),
  ).length;
  return {
    what: `answers to ${options.burst} at once that are neither 200 nor 503 with Retry-After`,
    limit: 0,
    unit: "",
    figure: answers.length - fine,
    detail: `${count(200)} acknowledged, ${count(503)} answered 503`,
  };
}

/** The process is killed during a burst: the next process finishes all acknowledged deliveries. */
async function measureLoss(sender: Sender<PullRequestEvent>, world: World): Promise<Verdict> {
  const { platform } = sender;
  const burst = Array.from({ length: Number(options.burst) }, () => sender.send());
  await Promise.race(burst);
  await platform.kill();
  await Promise.all(burst);
  await world.admin.delete(leases, { name: "platform", namespace });
  await platform.start();
  const acknowledged = [...sender.answers.values()].filter(({ status }) => status === 200).map(({ event }) => event);
  const lost = () => unsettled(acknowledged, world);
  await until(async () => (await lost()).length === 0, {
    what: "the end of every acknowledged delivery",
    deadlineMs: SETTLED_WITHIN_MS,
    everyMs: 1e3,
  }).catch(() => undefined);
  const left = await lost();
  return {
    what: "acknowledged deliveries that a kill in their middle lost",
    limit: 0,
    unit: "",
    figure: left.length,
    detail: `${acknowledged.length} acknowledged in all, ${burst.length} under way when it was killed${left.length > 0 ? `; such as ${left[0]}` : ""}`,
  };
}

/** Acknowledged deliveries without a stored outcome, and environments without their newest commit. */
async function unsettled(acknowledged: readonly PullRequestEvent[], { admin }: World): Promise<string[]> {
  const { items } = await admin.list(webhookDeliveryType, { namespace });
  const stored = new Map(items.map((delivery) => [delivery.spec.deliveryId, delivery]));
  const isSettled = (delivery: WebhookDelivery | undefined) => delivery !== undefined && !isPending(delivery);
  const open = acknowledged.filter(({ delivery }) => !isSettled(stored.get(delivery)));
  const environments = await admin.list(environmentType);
  const commits = new Map(environments.items.map(({ metadata, spec }) => [metadata.name, spec.backend.commit]));
  const newest = new Map<string, string>();
  // Stored deliveries count: an event may have arrived although its answer was lost.
  const inOrder = items.filter(({ spec }) => spec.event.pullRequest !== undefined).sort(byTime);
  const expected = new Set(acknowledged.map(({ environment }) => environment));
  for (const { spec } of inOrder) {
    const { number, headCommit } = spec.event.pullRequest ?? { number: 0, headCommit: "" };
    newest.set(`${spec.repositories?.[0]}-pr-${number}`, headCommit);
  }
  const behind = [...newest]
    .filter(([name, commit]) => expected.has(name) && commits.get(name) !== commit)
    .map(([name]) => name);
  return [...open.map(({ delivery }) => delivery), ...behind];
}

function byTime({ spec: one }: WebhookDelivery, { spec: other }: WebhookDelivery): number {
  const at = ({ event }: WebhookDelivery["spec"]) => Date.parse(event.pullRequest?.updatedAt ?? "");
  return at(one) - at(other);
}

/**
 * The p99 of the median slice. A pause of the whole machine (the API server's disk, another tenant) makes one second slow,
 * more than a hundredth of a run: it alone would decide the p99 of all answers. A slowness of the platform itself shows in
 * most slices.
 */
function p99(slices: readonly (readonly number[])[]): number {
  return median(slices.map((slice) => quantile(slice, 0.99)));
}

function spread(slices: readonly (readonly number[])[]): string {
  const all = slices.flat();
  const worst = Math.max(...slices.map((slice) => quantile(slice, 0.99)));
  const [p50, whole] = [median(all), quantile(all, 0.99)];
  return [
    `p50 ${p50.toFixed(1)} ms, p99 of the median slice ${p99(slices).toFixed(1)} ms, of the worst ${worst.toFixed(1)} ms`,
    `of all ${whole.toFixed(1)} ms, longest ${Math.max(...all).toFixed(0)} ms, n=${all.length}`,
  ].join(", ");
}

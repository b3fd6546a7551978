import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../support/faults/seeded-random.ts";
import { openLocalCluster } from "../local-cluster.ts";
import type { Openings } from "../run-benchmark.ts";
import type { Verdict } from "../verdict.ts";
import { type Differences, differencesOf } from "./differences.ts";
import { disturb, expectPrograms } from "./disturbances.ts";
import { type Growth, startReader } from "./growth.ts";
import { createPerson } from "./person.ts";
import { PullRequests } from "./pull-requests.ts";
import { openSite, type Site } from "./site.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly people: number;
  /** Equal seeds draw equal work; its times differ. */
  readonly seed: number;
}

const MINUTE_MS = 60_000;
/** Pause of a person between two deeds. */
const THINKING_MS = 4_000;
/** Pause between two events of pull requests. */
const EVENT_MS = 8_000;
/** Share of the time with disturbances. After the next tenth, in which restarted programs warm up, memory is compared. */
const DISTURBED = 0.6;
const WARM = 0.7;

/** Runs the day, and judges its end. */
export async function measureSoak(openings: Openings, options: SoakOptions): Promise<readonly Verdict[]> {
  const { minutes, people, seed } = options;
  await expectPrograms();
  const site = await openings.open(openSite(await openLocalCluster(), seed));
  const reader = await openings.open(startReader());
  const day = await openings.open(startDay());
  const lengthMs = minutes * MINUTE_MS;
  const pullRequests = new PullRequests(site, seededRandom(seed));
  const randomOf = (worker: number) => seededRandom(seed + worker);
  for (let index = 1; index <= people; index += 1) {
    const person = createPerson(site, `${index}`, randomOf(index));
    day.work((end) => repeated(person, THINKING_MS, AbortSignal.any([end, AbortSignal.timeout(lengthMs)])));
  }
  day.work((end) => {
    const events = repeated(() => pullRequests.next(), EVENT_MS, AbortSignal.any([end, AbortSignal.timeout(lengthMs)]));
    return events.then(() => pullRequests.finish());
  });
  const disturbances: string[] = [];
  const note = (line: string) => {
    disturbances.push(line);
    say(line);
  };
  day.work((end) => {
    const calm = AbortSignal.any([end, AbortSignal.timeout(lengthMs * DISTURBED)]);
    return disturb({ random: randomOf(0), note, end: calm });
  });
  await pause(lengthMs * WARM);
  const growth = await reader.compare(lengthMs * (1 - WARM));
  await day.over();
  say(`${site.ledger.deeds} deeds, ${pullRequests.sent} webhooks, ${disturbances.length} disturbances; seed ${seed}`);
  const disturbed = disturbedVerdict(disturbances.length, minutes);
  return [...verdictsOf(await differencesOf(site), site), disturbed, ...growthVerdicts(growth)];
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Everyone's work, which ends before what it needs is closed. */
function startDay() {
  const interrupted = new AbortController();
  const works: Promise<unknown>[] = [];
  return {
    /** @param work ends soon after its signal */
    work(work: (end: AbortSignal) => Promise<unknown>): void {
      const begun = work(interrupted.signal);
      begun.catch(() => undefined);
      works.push(begun);
    },
    over: () => Promise.all(works),
    async stop() {
      interrupted.abort();
      await Promise.allSettled(works);
    },
  };
}

/** Does one thing after the other until the end, at most one in each interval; a failed one is the ledger's to note. */
async function repeated(deed: () => Promise<void>, everyMs: number, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    const rest = pause(everyMs, undefined, { signal: end }).catch(() => undefined);
    await deed();
    await rest;
  }
}

function verdictsOf({ unlike, remains, pending, silent }: Differences, { ledger }: Site): readonly Verdict[] {
  const none = (what: string, found: readonly string[]): Verdict => ({
    what,
    figure: found.length,
    limit: 0,
    unit: "",
    detail: found.length === 0 ? `of ${ledger.deeds} deeds` : found.slice(0, 20).join("\n          "),
  });
  return [
    none("environments that are not as people left them", unlike),
    none("objects that remain of deleted environments", remains),
    none("webhooks without an outcome", pending),
    none("environments whose address does not answer", silent),
    none("answers that the contract does not have", ledger.unexpected),
  ];
}

function disturbedVerdict(count: number, minutes: number): Verdict {
  return {
    what: "disturbances",
    figure: count,
    limit: Math.ceil(minutes * DISTURBED),
    isAtLeast: true,
    unit: "",
    detail: "programs that were killed, and those that were frozen for a while",
  };
}

/** Both grow a little while a day is new to them. */
const GROWTH_LIMIT = 1.25;

function growthVerdicts({ memory, handles }: Growth): readonly Verdict[] {
  return [
    {
      what: "growth of the operator's memory, beside that of a program that only reads",
      limit: GROWTH_LIMIT,
      unit: "×",
      ...memory,
    },
    {
      what: "growth of its open handles, beside those of that program",
      limit: GROWTH_LIMIT,
      unit: "×",
      ...handles,
    },
  ];
}

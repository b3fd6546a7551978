/**
 * Measures the masking of secrets in logs, with the worst values and texts within the limits: its cost beside a plain search
 * for absent values, and beside masking those; the cost of twice the size; and the cost for readers in turn. All in
 * processor time of the same run.
 */
import { yieldIfDue } from "../../operator/kit/time/yield-if-due.ts";
import { type Mask, SecretMasks, TooMuchToMask } from "../../operator/masking/secret-mask.ts";
import { seededRandom } from "../support/faults/seeded-random.ts";
import { runBenchmark } from "./run-benchmark.ts";
import { median } from "./table.ts";
import type { Verdict } from "./verdict.ts";

/** The longest value of an environment, and the longest answered log. */
const VALUE_LENGTH = 4_096;
const TEXT_LENGTH = 1024 ** 2;
const LINE_LENGTH = 15_000;
const ROUNDS = 5;
/** The limit beside a plain search: masking also finds escaped values, and values spread over lines. */
const MOST_BESIDE_SEARCH = 85;
/** Twice the text takes twice the time. */
const MOST_FOR_TWICE_THE_TEXT = 3;
/** The length of values does not matter. */
const MOST_FOR_TWICE_THE_VALUES = 1.6;
/** Readers in turn, beside one alone: nothing is prepared again. */
const MOST_IN_TURN = 1.4;
/** An environment with many secrets: a fourth of the prepared ones. */
const MANY_VALUES = 20;
const BATCHES = 200;

const random = seededRandom(1);
const drawn = (parts: readonly string[], length: number) =>
  filled(() => parts[Math.floor(random() * parts.length)] as string, length);

function filled(part: (index: number) => string, length: number): string {
  let text = "";
  for (let index = 0; text.length < length; index += 1) text += part(index);
  return text.slice(0, length);
}

const logOf = (part: (index: number) => string) => filled(() => `${filled(part, LINE_LENGTH)}\n`, TEXT_LENGTH);
const value = (part: (index: number) => string, length = VALUE_LENGTH) => filled(part, length);

interface Scene {
  readonly name: string;
  readonly values: (length: number) => readonly string[];
  readonly text: string;
  /** The limit beside absent values: ambiguous texts must not cost more before they are refused. */
  readonly mostTimes: number;
}

const benign: Scene = {
  name: "nowhere in the text",
  values: (length) => [0, 1, 2].map(() => drawn(["Q", "x", "7", "Z"], length)),
  text: logOf((index) => `INFO request ${index} of /api/things?page=%20${index} "a\\n" took 12 ms `),
  mostTimes: 1,
};
const worst: readonly Scene[] = [
  {
    name: "repeated lines that overlap",
    values: (length) => ["aaaaaaa\n", "aaaaaaaa\n", "aaaaaaaaa\n"].map((line) => value(() => line, length)),
    text: logOf(() => "a"),
    mostTimes: 0.7,
  },
  {
    name: "short lines, all different",
    values: (length) => ["k", "l", "m"].map((key) => value((index) => `${key}${index}=/a\n`, length)),
    text: logOf((index) => `k${index % 500}=%2Fa l${index % 300}=\\/a `),
    mostTimes: 3,
  },
  {
    name: "quotes in JSON",
    values: (length) => [value(() => '"', length), value((index) => `${'"'.repeat(6 + (index % 80))}\n`, length)],
    text: logOf(() => '\\"'),
    mostTimes: 5,
  },
  {
    name: "what can be read in many ways",
    values: (length) => [drawn(["\\", "n", "\n", "\\\\"], length), drawn(["%", "%25", "%2525"], length)],
    text: logOf((index) => (index % 2 === 0 ? "\\\\n%25" : "\\%25n")),
    mostTimes: 5,
  },
];

/** CPU milliseconds: other load on the machine does not count. */
async function cost(mask: Mask, text: string): Promise<number> {
  const before = process.cpuUsage();
  await mask(text).catch((error: unknown) => {
    if (!(error instanceof TooMuchToMask)) throw error;
  });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function medianCost(make: () => readonly [mask: Mask, text: string]): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) samples.push(await cost(...make()));
  return median(samples);
}

const whole = ({ values, text }: Scene, length = VALUE_LENGTH) =>
  medianCost(() => [new SecretMasks(yieldIfDue).of(values(length)), text]);

const manyValues = () =>
  Array.from({ length: MANY_VALUES }, () => value(() => String.fromCharCode(33 + random() * 90)));
const [many, manyOthers] = [manyValues(), manyValues()];
const batch = filled((index) => `INFO request ${index} of /api/things took 12 ms\n`, 4_096);

async function following(masks: readonly Mask[]): Promise<number> {
  for (const mask of masks) await mask(batch);
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let sum = 0;
    for (let index = 0; index < BATCHES; index += 1) sum += await cost(masks[index % masks.length] as Mask, batch);
    samples.push(sum / BATCHES);
  }
  return median(samples);
}

async function inTurn(what: string, environments: readonly (readonly string[])[]): Promise<Verdict> {
  const masks = new SecretMasks(yieldIfDue);
  const alone = await following(environments.slice(0, 1).map((values) => masks.of(values)));
  const together = await following(environments.map((values) => masks.of(values)));
  const detail = `a batch of 4 KiB and 80 KiB of values: ${alone.toFixed(2)} ms of CPU alone, ${together.toFixed(2)} ms in turn; prepared ${masks.prepared} times`;
  return { what, figure: together / alone, limit: MOST_IN_TURN, unit: "×", detail };
}

/** A plain client: it writes every line in three spellings, and searches each for each value. */
const searched = ({ values, text }: Scene) => {
  const secrets = values(VALUE_LENGTH);
  const masked = (line: string) => secrets.reduce((left, one) => left.replaceAll(one, "***"), line);
  const search = async (lines: string) => {
    const spelled = lines.split("\n").flatMap((line) => [line, JSON.stringify(line), encodeURIComponent(line)]);
    return spelled.map(masked).join("\n") as never;
  };
  return medianCost(() => [search, text]);
};

await runBenchmark(measure);

async function measure(): Promise<readonly Verdict[]> {
  await whole(benign);
  const baseline = await whole(benign);
  const plain = await searched(benign);
  const verdicts: Verdict[] = [
    {
      what: `${benign.name}, beside a plain search`,
      figure: baseline / plain,
      limit: MOST_BESIDE_SEARCH,
      unit: "×",
      detail: `1 MiB and three values of 4 KiB: ${baseline.toFixed(0)} ms of CPU; each looked for in three spellings of every line: ${plain.toFixed(1)} ms`,
    },
  ];
  for (const scene of worst) {
    const [half, all] = [
      await medianCost(() => [
        new SecretMasks(yieldIfDue).of(scene.values(VALUE_LENGTH)),
        scene.text.slice(0, TEXT_LENGTH / 2),
      ]),
      await whole(scene),
    ];
    const short = await whole(scene, VALUE_LENGTH / 2);
    const detail = `1 MiB and three values of 4 KiB: ${all.toFixed(0)} ms of CPU; nowhere in the text: ${baseline.toFixed(0)} ms`;
    verdicts.push(
      {
        what: `${scene.name}, beside values that are nowhere`,
        figure: all / baseline,
        limit: scene.mostTimes,
        unit: "×",
        detail,
      },
      {
        what: `${scene.name}, twice the text`,
        figure: all / half,
        limit: MOST_FOR_TWICE_THE_TEXT,
        unit: "×",
        detail: `${half.toFixed(0)} ms, then ${all.toFixed(0)} ms`,
      },
      {
        what: `${scene.name}, twice the values`,
        figure: all / short,
        limit: MOST_FOR_TWICE_THE_VALUES,
        unit: "×",
        detail: `${short.toFixed(0)} ms, then ${all.toFixed(0)} ms`,
      },
    );
  }
  verdicts.push(await inTurn("two readers in turn, of one environment", [many, many]));
  verdicts.push(await inTurn("two readers in turn, of two environments", [many, manyOthers]));
  return verdicts;
}

import { until } from "../../support/fixtures/until.ts";
import { median } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { BenchWorld } from "./bench-world.ts";
import type { Figures } from "./measured-operator.ts";

const DEADLINE_MS = 300_000;

/** One replica leads, the other takes over when it stops. */
interface Turn {
  /** From the start of the leader's process to its convergence. */
  readonly startSeconds: number;
  /** From the takeover to its convergence. */
  readonly takeoverSeconds: number;
  /** From the takeover to its first reconcile. */
  readonly firstSeconds: number;
  readonly leader: Figures;
  /** Before it leads. */
  readonly standby: Figures;
  /** Writes of the replica that took over, until it converged. */
  readonly writes: Figures["writes"];
}

/** The costs of a second replica with all objects, and the time until it has converged after a takeover. */
export async function measureReplicas(bench: BenchWorld, { turns }: { readonly turns: number }): Promise<Verdict[]> {
  const done: Turn[] = [];
  for (let index = 0; index < turns; index += 1) {
    done.push(await turn(bench));
    process.stderr.write(`replicas, turn ${index + 1} of ${turns}\n`);
  }
  return verdictsOf(done);
}

async function turn(bench: BenchWorld): Promise<Turn> {
  const first = bench.startOperator();
  const { convergedAtMs } = await first.converged(DEADLINE_MS);
  const second = bench.startOperator({ isStandby: true });
  const isSynced = async () => (await second.figures()).isSynced;
  await until(isSynced, { what: "the second replica having read all", deadlineMs: DEADLINE_MS, everyMs: 100 });
  const [leader, standby] = [await first.figures(), await second.figures()];
  await first.stop();
  const ledAtMs = Date.now();
  await second.lead();
  const isAtWork = async () => (await second.figures()).reconciles > 0;
  await until(isAtWork, { what: "the first reconcile of the second replica", deadlineMs: DEADLINE_MS, everyMs: 20 });
  const firstSeconds = (Date.now() - ledAtMs) / 1e3;
  const led = await second.converged(DEADLINE_MS);
  await second.stop();
  return {
    startSeconds: (convergedAtMs - first.startedAtMs) / 1e3,
    takeoverSeconds: (led.convergedAtMs - ledAtMs) / 1e3,
    firstSeconds,
    leader,
    standby,
    writes: led.writes,
  };
}

function verdictsOf(turns: readonly Turn[]): Verdict[] {
  const medianOf = (of: (turn: Turn) => number) => median(turns.map(of));
  const say = (of: (turn: Turn) => number, digits: number) => turns.map((one) => of(one).toFixed(digits)).join(", ");
  const takeover = (one: Turn) => one.takeoverSeconds;
  const start = (one: Turn) => one.startSeconds;
  const own = (one: Turn) => one.standby.rssMib;
  const leaders = (one: Turn) => one.leader.rssMib;
  return [
    {
      what: "replicas: all reconciled after another takes over, beside a start",
      unit: "×",
      limit: 1,
      figure: medianOf(takeover) / medianOf(start),
      detail: `after taking over ${say(takeover, 1)} s, the first after ${say(({ firstSeconds }) => firstSeconds, 2)} s; after a start ${say(start, 1)} s`,
    },
    {
      what: "replicas: memory of the one that stands by, beside the leader's",
      unit: "×",
      limit: 1.1,
      figure: medianOf(own) / medianOf(leaders),
      detail: `standing by ${say(own, 0)} MiB; leading ${say(leaders, 0)} MiB`,
    },
    ofWrites(
      "replicas: writes of the one that stands by, the most",
      turns.map(({ standby }) => standby.writes),
    ),
    ofWrites(
      "replicas: writes of the one that takes over, the most",
      turns.map(({ writes }) => writes),
    ),
  ];
}

/** None is permitted: nothing has changed. */
function ofWrites(what: string, counts: readonly Figures["writes"][]): Verdict {
  const sums = counts.map((writes) => Object.values(writes).reduce((sum, count) => sum + count, 0));
  return { what, unit: "", limit: 0, figure: Math.max(...sums), detail: JSON.stringify(counts) };
}

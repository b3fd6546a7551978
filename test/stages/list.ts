import { audit } from "./audit.ts";
import { jest } from "./jest.ts";
import { e2e, e2eInstall } from "./local-clusters.ts";
import { crashedStage, type Outcome, outcomeOf } from "./outcome.ts";
import type { StageGroup, StageHow } from "./stage.ts";
import { verify } from "./verify.ts";

/** A process for each file: an operator that a fault has ended in the middle of a pass may write until its process ends. */
const FRESH = { flags: ["--workerIdleMemoryLimit=1KB"] };

/** The stages in order. */
const stages: readonly StageGroup[] = [
  { names: ["verify"], run: verify },
  { names: ["audit"], run: audit },
  // Waits for most of its time, as the other one that is aside. One after the other: a machine has room for one local cluster.
  { names: ["e2e-install"], run: (_names, how) => e2eInstall(how), isAside: true, runsAgain: true },
  // Together, where they share the modules that a worker has loaded.
  { names: ["unit", "contract"], run: (names, { files }) => jest(names, "100%", { files }) },
  // These wait much of the time, so that more fit on any machine; what they judge has deadlines, so that not all do.
  { names: ["ports"], run: (names, { files }) => jest(names, 2, { files }), onPlanes: true, runsAgain: true },
  { names: ["control-plane"], run: (names, { files }) => jest(names, 6, { files }), onPlanes: true, runsAgain: true },
  // Each leaves a processor idle for half of its time.
  { names: ["faults", "schemathesis"], run: faultsAndSchemathesis, onPlanes: true, runsAgain: true },
  { names: ["e2e", "e2e-console"], run: e2e, isAside: true, runsAgain: true },
  { names: ["generators"], run: generators },
];
export default stages;

async function faultsAndSchemathesis(names: readonly string[], { files }: StageHow): Promise<Outcome[]> {
  const kinds: Readonly<Record<string, () => Promise<Outcome[]>>> = {
    faults: () => jest(["faults"], 4, { ...FRESH, files }),
    schemathesis,
  };
  // One that crashes takes no results from the other.
  const all = names.map((name) => kinds[name]?.().catch((error: unknown) => [crashedStage(name, error)]) ?? []);
  return (await Promise.all(all)).flat();
}

/** Clients of the OpenAPI document, by the generators that people use; see test/generators. */
async function generators(_names: readonly string[], { isWhole }: StageHow): Promise<Outcome[]> {
  const { tryGenerators } = await import("../generators/stage.ts");
  // Among all the other stages, what was tried before with the same document is not tried again.
  return tryGenerators({ remembers: isWhole });
}

/** Whatever the OpenAPI document says, tried on the platform's real process; see test/schemathesis. */
async function schemathesis(): Promise<Outcome[]> {
  // Loaded where it is wanted: no other stage needs a client of Kubernetes.
  const { tryDocument } = await import("../schemathesis/stage.ts");
  const { whyNoPython } = await import("../support/plane/python.ts");
  const obstacle = await whyNoPython();
  if (obstacle === undefined) return tryDocument();
  console.log(`schemathesis is skipped. ${obstacle}`);
  return [outcomeOf("schemathesis", { skipped: 1 })];
}

import { audit } from "./audit.ts";
import { jest, perProcessor } from "./jest.ts";
import { e2e, e2eInstall } from "./local-clusters.ts";
import { crashedStage, type Outcome, outcomeOf } from "./outcome.ts";
import type { StageGroup, StageHow } from "./stage.ts";
import { verify } from "./verify.ts";

/** A process for each file: an operator that a fault has aborted may write until its process ends. */
const FRESH = { flags: ["--workerIdleMemoryLimit=1KB"] };

const stages: readonly StageGroup[] = [
  { names: ["verify"], run: verify },
  { names: ["audit"], run: audit },
  // Mostly waits, as the other stage aside. One after the other: a machine has space for one local cluster.
  { names: ["e2e-install"], run: (_names, how) => e2eInstall(how), isAside: true, runsAgain: true },
  // Together, because they share loaded modules.
  { names: ["unit", "contract"], run: (names, { files }) => jest(names, "100%", { files }) },
  // Ports mostly wait, so that more fit on any machine; their checks have deadlines, so that not all do.
  { names: ["ports"], run: (names, { files }) => jest(names, 2, { files }), onPlanes: true, runsAgain: true },
  { names: ["control-plane"], run: (names, { files }) => jest(names, 6, { files }), onPlanes: true, runsAgain: true },
  { names: ["faults", "schemathesis"], run: faultsAndSchemathesis, onPlanes: true, runsAgain: true },
  { names: ["e2e", "e2e-console"], run: e2e, isAside: true, runsAgain: true },
  { names: ["generators"], run: generators },
];
export default stages;

async function faultsAndSchemathesis(names: readonly string[], { files }: StageHow): Promise<Outcome[]> {
  const kinds: Readonly<Record<string, () => Promise<Outcome[]>>> = {
    faults: () => jest(["faults"], perProcessor(4), { ...FRESH, files }),
    schemathesis,
  };
  // A crash of one keeps the results of the other.
  const all = names.map((name) => kinds[name]?.().catch((error: unknown) => [crashedStage(name, error)]) ?? []);
  return (await Promise.all(all)).flat();
}

/** Clients of the OpenAPI document, by common generators; see test/generators. */
async function generators(_names: readonly string[], { isWhole }: StageHow): Promise<Outcome[]> {
  const { tryGenerators } = await import("../generators/stage.ts");
  // A whole run skips an unchanged document.
  return tryGenerators({ remembers: isWhole });
}

/** Inputs by the OpenAPI document, on the platform's real process; see test/schemathesis. */
async function schemathesis(): Promise<Outcome[]> {
  // Loaded on demand: no other stage needs a client of Kubernetes.
  const { tryDocument } = await import("../schemathesis/stage.ts");
  const { whyNoPython } = await import("../support/plane/python.ts");
  const obstacle = await whyNoPython();
  if (obstacle === undefined) return tryDocument();
  console.log(`schemathesis is skipped. ${obstacle}`);
  return [outcomeOf("schemathesis", { skipped: 1 })];
}

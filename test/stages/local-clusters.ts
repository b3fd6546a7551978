import { readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { run as commandOutput } from "../../deploy/build/run.ts";
import { whyNoImage } from "../../deploy/image/pins.ts";
import { assertCapacity } from "../../deploy/local/capacity.ts";
import { isRunning } from "../../deploy/local/cluster.ts";
import { clusterFolder, shellVariablesFile } from "../../deploy/local/folders.ts";
import { whyNot } from "../../deploy/local/prerequisites.ts";
import { withCheckoutElsewhere } from "./checkout-elsewhere.ts";
import { bin, checkout, type How, run } from "./command.ts";
import { jest, perProcessor } from "./jest.ts";
import { failedStage, type Outcome, outcomeOf } from "./outcome.ts";
import { playwright, whyNoBrowser } from "./playwright.ts";
import type { StageHow } from "./stage.ts";

const launcher = "deploy/local/main.ts";

/**
 * Checks the machine's space for a whole run's local clusters, where they can be started: otherwise the run fails after
 * minutes of builds. Fails with one sentence.
 */
export async function assertRoomForClusters(): Promise<void> {
  if (whyNot() === undefined && !(await isRunning())) await assertCapacity();
}

/** The platform installed by helm, as pods, on a separate local cluster. */
export async function e2eInstall({ isWhole, files }: StageHow): Promise<Outcome[]> {
  const stage = "e2e-install";
  const running = (await isRunning()) ? 'A local cluster runs here; "make down" stops it.' : undefined;
  const obstacle = running ?? whyNot() ?? (await whyNoImage());
  if (obstacle !== undefined) return skipped([stage], obstacle);
  try {
    if ((await launch("bare")) !== 0) return [notStarted(stage, "bare")];
    // A whole run has only an installation's short test; a narrow one all scenes.
    const projects = isWhole && files === undefined ? ["e2e-install"] : ["e2e-install", "e2e-install-scenes"];
    return await jest(projects, 1, { env: { ...process.env, ...shellVariables() }, files });
  } finally {
    await stopCluster(stage);
  }
}

/**
 * Tests on the local cluster: the running one, or one that is started for them and stopped afterwards. The latter, with its
 * tests, uses another place of the checkout, whose files must not change meanwhile.
 */
export async function e2e(names: readonly string[], how: StageHow): Promise<Outcome[]> {
  const obstacle = whyNot();
  if (obstacle !== undefined) return skipped(names, obstacle);
  const before = await changedFiles();
  const outcomes = await withCheckoutElsewhere(async (elsewhere) => {
    if (await isRunning()) return onCluster(names, { ...how, checkout });
    try {
      return await onCluster(names, { ...how, checkout: elsewhere });
    } finally {
      await stopCluster(names[0] ?? "", { checkout: elsewhere });
    }
  });
  const after = await changedFiles();
  if (after === before) return outcomes;
  const failure = { title: "no file of the checkout changes in the meantime", message: after };
  return [...outcomes, failedStage(names.join(", "), failure)];
}

async function onCluster(names: readonly string[], how: StageHow & How): Promise<Outcome[]> {
  for (const command of names.includes("e2e") ? ["up", "gitea", "podinfo"] : ["up"]) {
    if ((await launch(command, how)) !== 0) return [notStarted(names.join(", "), command)];
  }
  return stories(names, { ...how, env: { ...process.env, ...shellVariables() } });
}

/** Calls a command of the launcher, always for the local cluster. */
function launch(command: string, how: How = {}): Promise<number> {
  const { CLUSTER: _, ...env } = process.env;
  return run(bin("node"), [launcher, command], { checkout: how.checkout, env });
}

/** Lists git's changed or new files, without the picture of `make screenshot`; empty without a git checkout. */
async function changedFiles(): Promise<string> {
  const args = ["-c", "safe.directory=*", "status", "--porcelain", "--", ".", ":!docs/console.png"];
  return commandOutput("git", args, { cwd: checkout }).catch(() => "");
}

/** The two kinds of a stage's tests: concurrent ones, and those that break others' dependencies, one by one. */
type Company = "together" | "alone";

interface StoryKind {
  readonly stage: string;
  run(company: Company, how: StageHow & How): Promise<Outcome[]>;
}

const storyKinds: readonly StoryKind[] = [
  {
    stage: "e2e",
    run: (company, how) => (company === "together" ? jest(["e2e"], perProcessor(4), how) : jest(["e2e-alone"], 1, how)),
  },
  {
    stage: "e2e-console",
    run: (company, how) =>
      playwright(company, { ...how, stage: "e2e-console", config: "e2e/console/playwright.config.ts" }),
  },
];

async function stories(names: readonly string[], how: StageHow & How): Promise<Outcome[]> {
  const obstacle = names.includes("e2e-console") ? whyNoBrowser() : undefined;
  const unseen = obstacle === undefined ? [] : skipped(["e2e-console"], obstacle);
  const kinds = storyKinds.filter(
    ({ stage }) => names.includes(stage) && (stage !== "e2e-console" || obstacle === undefined),
  );
  const together = await Promise.all(kinds.map((kind) => kind.run("together", how)));
  // Kills of the operator are exact only on an otherwise idle machine.
  await how.others;
  const alone: Outcome[] = [];
  for (const kind of kinds) alone.push(...(await kind.run("alone", how)));
  return [...unseen, ...together.flat(), ...alone];
}

function skipped(stages: readonly string[], obstacle: string): Outcome[] {
  console.log(`${stages.join(" and ")} is skipped. ${obstacle}`);
  return stages.map((stage) => outcomeOf(stage, { skipped: 1 }));
}

function notStarted(stage: string, command: string): Outcome {
  return failedStage(stage, { message: `The local cluster's "${command}" failed.`, causeInOutput: true });
}

async function stopCluster(stage: string, how: How = {}): Promise<void> {
  const { PROGRAM_LOGS } = process.env;
  const logs = join(clusterFolder, "log");
  if (PROGRAM_LOGS) await cp(logs, join(PROGRAM_LOGS, stage), { recursive: true }).catch(() => undefined);
  await launch("down", how);
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(shellVariablesFile, "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}

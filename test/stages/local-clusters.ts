/** The stages that need a local cluster. */
import { readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { whyNoImage } from "../../deploy/image/pins.ts";
import { isRunning } from "../../deploy/local/cluster.ts";
import { clusterFolder, shellVariablesFile } from "../../deploy/local/folders.ts";
import { whyNot } from "../../deploy/local/prerequisites.ts";
import { checkout, type How, node, run } from "./command.ts";
import { jest } from "./jest.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { playwright, whyNoBrowser } from "./playwright.ts";
import type { StageHow } from "./stage.ts";

const launcher = join(checkout, "deploy/local/main.ts");

/** The platform installed by helm, as pods, on a local cluster of its own. */
export async function e2eInstall({ isWhole, files }: StageHow): Promise<Outcome[]> {
  const stage = "e2e-install";
  const running = (await isRunning()) ? 'A local cluster runs here; "make down" stops it.' : undefined;
  const obstacle = running ?? whyNot() ?? (await whyNoImage());
  if (obstacle !== undefined) return skipped([stage], obstacle);
  const env = withoutCluster();
  try {
    if ((await run(node, [launcher, "bare"], { env })) !== 0) return [notStarted(stage, "bare")];
    // Among all the other stages, an installation's short story; all scenes where they are asked for.
    const projects = isWhole && files === undefined ? ["e2e-install"] : ["e2e-install", "e2e-install-scenes"];
    return await jest(projects, 1, { env: { ...process.env, ...shellVariables() }, files });
  } finally {
    await stopCluster(stage);
  }
}

/** Stories on the local cluster: the one that runs, or one that is started for the tests and stopped after them. */
export async function e2e(names: readonly string[], how: StageHow): Promise<Outcome[]> {
  const obstacle = whyNot();
  if (obstacle !== undefined) return skipped(names, obstacle);
  const ranBefore = await isRunning();
  const env = withoutCluster();
  const name = names.join(", ");
  try {
    for (const command of names.includes("e2e") ? ["up", "gitea"] : ["up"]) {
      if ((await run(node, [launcher, command], { env })) !== 0) return [notStarted(name, command)];
    }
    return await stories(names, { ...how, env: { ...process.env, ...shellVariables() } });
  } finally {
    if (!ranBefore) await stopCluster(names[0] ?? "");
  }
}

/** How the stories of a stage are told: beside the others, and those that break what others need, one by one. */
type Company = "together" | "alone";

interface StoryKind {
  readonly stage: string;
  tell(company: Company, how: StageHow & How): Promise<Outcome[]>;
}

const storyKinds: readonly StoryKind[] = [
  {
    stage: "e2e",
    tell: (company, { env, files }) =>
      company === "together" ? jest(["e2e"], 4, { env, files }) : jest(["e2e-alone"], 1, { env, files }),
  },
  {
    stage: "e2e-console",
    tell: (company, { env, files }) =>
      playwright(company, { stage: "e2e-console", config: "e2e/console/playwright.config.ts", env, files }),
  },
];

/** Those stages' stories on the local cluster that runs. */
async function stories(names: readonly string[], how: StageHow & How): Promise<Outcome[]> {
  const obstacle = names.includes("e2e-console") ? whyNoBrowser() : undefined;
  const unseen = obstacle === undefined ? [] : skipped(["e2e-console"], obstacle);
  const kinds = storyKinds.filter(
    ({ stage }) => names.includes(stage) && (stage !== "e2e-console" || obstacle === undefined),
  );
  const together = await Promise.all(kinds.map(({ tell }) => tell("together", how)));
  // What kills the operator hits the moment that it means only where nothing computes beside it.
  await how.others;
  const alone: Outcome[] = [];
  for (const { tell } of kinds) alone.push(...(await tell("alone", how)));
  return [...unseen, ...together.flat(), ...alone];
}

function skipped(stages: readonly string[], obstacle: string): Outcome[] {
  console.log(`${stages.join(" and ")} is skipped. ${obstacle}`);
  return stages.map((stage) => outcomeOf(stage, { skipped: 1 }));
}

function notStarted(stage: string, command: string): Outcome {
  return outcomeOf(stage, { failures: [{ message: `The local cluster's "${command}" failed. The output ends:` }] });
}

/** Stops the cluster, and keeps what its programs wrote where the run keeps such. */
async function stopCluster(stage: string): Promise<void> {
  const { PROGRAM_LOGS } = process.env;
  const logs = join(clusterFolder, "log");
  if (PROGRAM_LOGS) await cp(logs, join(PROGRAM_LOGS, stage), { recursive: true }).catch(() => undefined);
  await run(node, [launcher, "down"], { env: withoutCluster() });
}

/** Whatever cluster the caller works with: the stories are told on the local one. */
function withoutCluster(): NodeJS.ProcessEnv {
  const { CLUSTER: _, ...env } = process.env;
  return env;
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(shellVariablesFile, "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}

/** The stages that need a local cluster. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { whyNoImage } from "../../deploy/image/pins.ts";
import { isRunning } from "../../deploy/local/cluster.ts";
import { whyNot } from "../../deploy/local/prerequisites.ts";
import { run as commandOutput } from "../../deploy/local/processes/run.ts";
import { withCheckoutElsewhere } from "./checkout-elsewhere.ts";
import { bin, checkout, type How, node, type Output, print, run } from "./command.ts";
import { type Count, inOneLine, NOTHING, sum } from "./count.ts";
import { jest } from "./jest.ts";
import { playwright, whyNoBrowser } from "./playwright.ts";

const launcher = "deploy/local/main.ts";

/** What a stage that runs beside others is told: where its programs write, and when the others are over. */
export interface Beside {
  readonly output: Output;
  readonly others: Promise<void>;
}

interface InstallHow extends Partial<Beside> {
  /** Among all the other stages. */
  readonly isWhole: boolean;
}

/** The platform installed by helm, as pods, on a local cluster of its own. */
export async function e2eInstall({ output = "inherit", isWhole }: InstallHow): Promise<Count> {
  const running = (await isRunning()) ? 'A local cluster runs here; "make down" stops it.' : undefined;
  const obstacle = running ?? whyNot() ?? (await whyNoImage());
  if (obstacle !== undefined) {
    print(`e2e-install is skipped. ${obstacle}`, output);
    return { ...NOTHING, skipped: 1 };
  }
  const { CLUSTER: _, ...local } = process.env;
  try {
    if ((await run(node, [launcher, "bare"], { env: local, output })) !== 0)
      return { ...NOTHING, failed: ["e2e-install: no bare cluster could be started"] };
    // Among all the other stages, an installation's short story; all scenes where they are asked for.
    const projects = isWhole ? ["e2e-install"] : ["e2e-install", "e2e-install-scenes"];
    return await jest(projects, 1, { env: { ...process.env, ...shellVariables() }, output });
  } finally {
    await run(node, [launcher, "down"], { env: local, output });
  }
}

/**
 * On the local cluster: the one that runs, or one that is started for the tests and stopped after them. That one is started,
 * and its stories are told, at another place of the checkout. Nothing of the checkout may have changed then.
 */
export async function e2e(
  names: readonly string[],
  { output = "inherit", others }: Partial<Beside> = {},
): Promise<Count> {
  const obstacle = whyNot();
  if (obstacle !== undefined) {
    print(`${names.join(" and ")} is skipped. ${obstacle}`, output);
    return { ...NOTHING, skipped: names.length };
  }
  const before = await changedFiles();
  const count = await withCheckoutElsewhere(async (elsewhere) => {
    if (await isRunning()) return onCluster(names, { checkout, output }, others);
    try {
      return await onCluster(names, { checkout: elsewhere, output }, others);
    } finally {
      await launch("down", { checkout: elsewhere, output });
    }
  });
  const after = await changedFiles();
  if (after === before) return count;
  const failed = `${names.join(", ")}: files of the checkout changed in the meantime: ${inOneLine(after)}`;
  return sum(count, { ...NOTHING, failed: [failed] });
}

/** Starts what is missing of the local cluster and tells those stages' stories on it. */
async function onCluster(names: readonly string[], how: How, others: Promise<void> | undefined): Promise<Count> {
  for (const command of names.includes("e2e") ? ["up", "gitea"] : ["up"]) {
    if ((await launch(command, how)) !== 0)
      return { ...NOTHING, failed: [`${names.join(", ")}: the local cluster's "${command}" failed`] };
  }
  return stories(names, { ...how, env: { ...process.env, ...shellVariables() } }, others);
}

/** Calls a command of the launcher. Whatever cluster the caller works with: the stories are told on the local one. */
function launch(command: string, how: How): Promise<number> {
  const { CLUSTER: _, ...env } = process.env;
  return run(bin("node"), [launcher, command], { ...how, env });
}

/** Lists the files that git finds changed or new, but for the picture of `make screenshot`; empty where git knows no checkout. */
async function changedFiles(): Promise<string> {
  const args = ["-c", "safe.directory=*", "status", "--porcelain", "--", ".", ":!docs/console.png"];
  return commandOutput("git", args, { cwd: checkout }).catch(() => "");
}

/** How the stories of a stage are told: beside the others, and those that break what others need, one by one. */
type Company = "together" | "alone";

interface StoryKind {
  readonly stage: string;
  tell(company: Company, how: How): Promise<Count>;
}

const storyKinds: readonly StoryKind[] = [
  {
    stage: "e2e",
    tell: (company, how) => (company === "together" ? jest(["e2e"], 4, how) : jest(["e2e-alone"], 1, how)),
  },
  { stage: "e2e-console", tell: (company, how) => playwright("e2e/console/playwright.config.ts", company, how) },
];

/** Those stages' stories on the local cluster that runs. */
async function stories(names: readonly string[], how: How, others: Promise<void> | undefined): Promise<Count> {
  const without = names.includes("e2e-console") ? whyNoBrowser() : undefined;
  if (without !== undefined) print(`e2e-console is skipped. ${without}`, how.output ?? "inherit");
  const kinds = storyKinds.filter(
    ({ stage }) => names.includes(stage) && (stage !== "e2e-console" || without === undefined),
  );
  const skipped = { ...NOTHING, skipped: without === undefined ? 0 : 1 };
  const together = await Promise.all(kinds.map(({ tell }) => tell("together", how)));
  // What kills the operator hits the moment that it means only where nothing computes beside it.
  await others;
  const alone: Count[] = [];
  for (const { tell } of kinds) alone.push(await tell("alone", how));
  return [skipped, ...together, ...alone].reduce(sum);
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(join(checkout, ".local/env"), "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}

import { proposeCompletions, run } from "@stricli/core";
import { application } from "./application.ts";
import { type CommandProcess, contextOf } from "./context.ts";
import { EXIT } from "./failure.ts";

/** Oldest Node, as `engines` of package.json. */
const OLDEST = [22, 19] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(`eenv: this is Node ${process.versions.node}, and Node ${OLDEST.join(".")} is needed\n`);
  process.exit(EXIT.misuse);
}

// A reader that stops early, such as head, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.refused);
});

const context = contextOf(process as CommandProcess);
const [first, ...words] = process.argv.slice(2);
if (first === "__complete") {
  // For the scripts of `eenv completion`. An error means no proposals.
  const proposals = await proposeCompletions(application, words, context).catch(() => []);
  for (const { completion, brief } of proposals) process.stdout.write(`${completion}\t${brief}\n`);
} else {
  await run(application, process.argv.slice(2), context);
  // The framework's own failures are below zero, such as an unknown command.
  if (Number(process.exitCode) < 0) process.exitCode = EXIT.misuse;
}

/**
 * Runs one group of stages on its parent's messages, and sends the outcomes. A separate process gives all output of it and
 * its programs one place, and shows its end by any cause. Usage: stage-process.ts LIST NAME …
 */
import { crashedStage, type Outcome } from "./outcome.ts";
import type { StageGroup } from "./stage.ts";

/** Parent to child: the stages to run, then the end of the others. */
export type StageRequest =
  | { readonly kind: "run"; readonly isWhole: boolean; readonly files?: readonly string[] | undefined }
  | { readonly kind: "others are over" };

/** Child to parent: the outcomes of its stages, of a crash as well. */
export type StageReply = readonly Outcome[];

const [list = "", ...names] = process.argv.slice(2);
const others = Promise.withResolvers<void>();

process.on("message", (request: StageRequest) => {
  if (request.kind === "run") void answer(request);
  else others.resolve();
});

async function answer({ isWhole, files }: StageRequest & { kind: "run" }): Promise<void> {
  const crashed = (error: unknown) => [crashedStage(names.join(", "), error)];
  const reply: StageReply = await outcomes({ isWhole, files }).catch(crashed);
  process.send?.(reply, () => process.disconnect());
}

async function outcomes(how: { readonly isWhole: boolean; readonly files?: readonly string[] | undefined }) {
  const { default: groups } = (await import(list)) as { default: readonly StageGroup[] };
  const group = groups.find((one) => names.every((name) => one.names.includes(name)));
  if (group === undefined) throw new Error(`${list} has no group of ${names.join(", ")}`);
  return group.run(names, { ...how, others: others.promise });
}

/**
 * Runs one group of stages as its parent's messages ask, and sends the parent their outcomes. As a process of its own, because
 * then all that it and its programs write has one place, and its end by any cause is seen. Usage: stage-process.ts LIST NAME …
 */
import { crashedStage, type Outcome } from "./outcome.ts";
import type { StageGroup } from "./stage.ts";

/** Parent to child: what to run, then that the others are over. */
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

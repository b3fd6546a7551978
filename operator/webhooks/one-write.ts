/** The decisions of several Repositories about one environment. */
import type { Decided, Decision } from "./decision.ts";

type Write = Extract<Decision, { readonly do: "update" | "delete" }>;

const isWrite = (decision: Decision): decision is Write => decision.do === "update" || decision.do === "delete";

/**
 * The same decisions with one write for each environment: an environment may have two components of one repository, a monorepo,
 * and an event of that is decided for each of them. What deletes takes the place of what updates.
 */
export function inOneWrite(decided: readonly Decided[]): readonly Decided[] {
  const keyOf = (one: Decided) => (isWrite(one.decision) ? one.decision.environment.metadata.name : one);
  return [...Map.groupBy(decided, keyOf).values()].map((group) => group.reduce(joined));
}

function joined(one: Decided, other: Decided): Decided {
  const [first, second] = [one.decision, other.decision] as [Write, Write];
  const trace = [...one.trace, ...other.trace];
  if (first.do === "delete") return { ...one, trace };
  if (second.do === "delete") return { ...other, trace };
  const annotations = { ...first.annotations, ...second.annotations };
  return { decision: { ...first, spec: { ...first.spec, ...second.spec }, annotations }, trace };
}

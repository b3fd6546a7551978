import { titleOf } from "../../../crds/object-title.ts";
import { type ComponentRules, chosenPods, type Labelled } from "./component-pods.ts";
import type { Finding, NamespaceState } from "./pod-problems.ts";
import { templateOf } from "./resource-states.ts";

/** Findings, each with the component or backing service of its pods, if any. */
export function ofComponents(
  findings: readonly Finding[],
  { pods, resources }: NamespaceState,
  rules: ComponentRules,
): readonly Finding[] {
  const templates = new Map(
    resources.flatMap((object) => {
      const template = templateOf(object);
      const { kind, metadata } = object;
      return template === undefined ? [] : [[titleOf({ kind, name: metadata.name }), template] as const];
    }),
  );
  const chosen = chosenPods<Labelled>([...pods, ...templates.values()], rules);
  return findings.map((finding) => {
    const labelled = finding.pod ?? templates.get(titleOf(finding.object));
    const component = labelled && chosen.componentOf(labelled);
    if (component === undefined) return finding;
    return { ...finding, component: component.name, ...(component.isLabelled ? {} : { isUnlabelled: true }) };
  });
}

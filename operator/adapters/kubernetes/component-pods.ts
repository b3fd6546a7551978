import type { ComponentSelectors } from "../../../crds/environment/component-selectors.ts";
import { OWN_COMPONENT_LABEL } from "../../../crds/group.ts";
import type { PodTemplate } from "./pod-objects.ts";

/**
 * Labels that name a component, where no selector does; the first one that any pod has with that name wins.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
 */
const NAMING_LABELS = [OWN_COMPONENT_LABEL, "app.kubernetes.io/component", "app.kubernetes.io/name"];

/** A pod, or a template of pods. */
export type Labelled = Pick<PodTemplate, "metadata">;

/** Rules that assign pods to components. */
export interface ComponentRules {
  readonly selectors: ComponentSelectors;
  /** Names of backing services, which the same labels assign. */
  readonly services: readonly string[];
}

/** Pods by component. */
export interface ChosenPods<T extends Labelled> {
  /**
   * Pods of a component or backing service: those that its selector fits, even none; without one, those whose labels
   * name it; else, for a component, all unassigned pods.
   */
  of(component: string): readonly T[];
  /** Component of a pod, or `undefined`; `isLabelled` is false for an otherwise unassigned pod. */
  componentOf(pod: T): { readonly name: string; readonly isLabelled: boolean } | undefined;
}

/** Assigns pods to components, the only place for logs, problems, the running commit and workloads. */
export function chosenPods<T extends Labelled>(
  pods: readonly T[],
  { selectors, services }: ComponentRules,
): ChosenPods<T> {
  const components = Object.entries(selectors);
  const said = new Map<string, readonly T[]>();
  for (const name of services) said.set(name, named(pods, name));
  for (const [name, { labels }] of components) said.set(name, labels ? fitting(pods, labels) : named(pods, name));
  const taken = new Set([...said.values()].flat());
  const others = pods.filter((pod) => !taken.has(pod));
  const isOpen = (name: string) => said.get(name)?.length === 0 && isWithoutSelector(selectors, name);
  return {
    of: (component) => (isOpen(component) ? others : (said.get(component) ?? [])),
    componentOf(pod) {
      const [saying] = [...said].find(([, own]) => own.includes(pod)) ?? [];
      if (saying !== undefined) return { name: saying, isLabelled: true };
      const [open] = components.find(([name]) => isOpen(name)) ?? [];
      return open === undefined ? undefined : { name: open, isLabelled: false };
    },
  };
}

/** A backing service never gets the unassigned pods. */
function isWithoutSelector(selectors: ComponentSelectors, name: string): boolean {
  return name in selectors && selectors[name as keyof ComponentSelectors]?.labels === undefined;
}

const labelOf = ({ metadata }: Labelled, label: string) => metadata?.labels?.[label];

function fitting<T extends Labelled>(pods: readonly T[], labels: Readonly<Record<string, string>>): readonly T[] {
  return pods.filter((pod) => Object.entries(labels).every(([label, value]) => labelOf(pod, label) === value));
}

function named<T extends Labelled>(pods: readonly T[], name: string): readonly T[] {
  const label = NAMING_LABELS.find((one) => pods.some((pod) => labelOf(pod, one) === name));
  return label === undefined ? [] : fitting(pods, { [label]: name });
}

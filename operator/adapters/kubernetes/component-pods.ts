import { OWN_COMPONENT_LABEL } from "../../../crds/group.ts";
import type { ComponentSelectors } from "../../../crds/repository/component-selectors.ts";
import type { PodTemplate } from "./pod-objects.ts";

/**
 * The labels that say a component by its name, where no selector does; of the first that any pod has with that name, the
 * others are not looked at. https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
 */
const NAMING_LABELS = [OWN_COMPONENT_LABEL, "app.kubernetes.io/component", "app.kubernetes.io/name"];

/** What may be of a component: a pod, or the template of pods. */
export type Labelled = Pick<PodTemplate, "metadata">;

/** What says which pods are of which component. */
export interface ComponentRules {
  readonly selectors: ComponentSelectors;
  /** The names of the backing services, which are found by the same labels. */
  readonly services: readonly string[];
}

/** Which of some pods are of which component. */
export interface ChosenPods<T extends Labelled> {
  /**
   * The pods of a component of the environment or of a backing service: those that its selector fits, also where it fits none;
   * without one, those whose labels say its name; else, of a component, all that are of no other one.
   */
  of(component: string): readonly T[];
  /** The component of a pod; `isLabelled`: not only because it is of no other. `undefined`: of none. */
  componentOf(pod: T): { readonly name: string; readonly isLabelled: boolean } | undefined;
}

/** The one place that decides which pods are of which component: for logs, problems, the running commit and the list of workloads. */
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

/** A backing service is never what is left. */
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

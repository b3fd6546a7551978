import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { Component } from "../../../crds/names.ts";
import type { ChartSource, Repository } from "../../../crds/repository/repository.ts";

/** What an environment would be made of. */
export interface TemplateChoice {
  /** Without one, any: both components, with placeholders. */
  readonly repository?: Repository | undefined;
  readonly configSet?: ConfigSetSpec | undefined;
  /** False: somebody has to give every secret of the Repository. */
  readonly generatesSecrets: boolean;
}

/** A variable that the pods of a component see. */
export interface TemplateVariable {
  readonly name: string;
  readonly component: Component;
  /** Whether an environment can't be without it. */
  readonly required: boolean;
  readonly secret: boolean;
  /** Where its value comes from; `override`: from nowhere, unless an override gives it. */
  readonly source: "auto" | "shared" | "config_set" | "override";
  /** Its value where nobody overrides it; none that is a secret. */
  readonly default: string | undefined;
}

/** How such an environment's chart is rendered, with placeholders for what only an environment knows. */
export interface ChartTemplate {
  readonly chart: ChartSource;
  readonly values: Readonly<Record<string, unknown>>;
  readonly variables: readonly TemplateVariable[];
}

/** Tells what environments are rendered with, by the rules that they are rendered by. Asks nobody. */
export interface ChartTemplates {
  templateOf(choice: TemplateChoice): ChartTemplate;
}

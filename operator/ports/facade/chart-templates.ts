import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { Component } from "../../../crds/names.ts";
import type { ChartSource, Repository } from "../../../crds/repository/repository.ts";

/** What an environment would be made of. */
export interface TemplateChoice {
  /** Without one, any: both components, with placeholders. */
  readonly repository?: Repository | undefined;
  readonly configSet?: ConfigSetSpec | undefined;
  /** False: every secret of the Repository has to be given. */
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
  /** Its value without an override; never a secret. */
  readonly default: string | undefined;
}

/** How such an environment's chart is rendered, with placeholders for values that only exist in an environment. */
export interface ChartTemplate {
  readonly chart: ChartSource;
  readonly values: Readonly<Record<string, unknown>>;
  /** What the values are mapped from, as YAML with references; both absent: the platform's layout. */
  readonly mapping: { readonly chart?: string; readonly configSet?: string };
  readonly variables: readonly TemplateVariable[];
}

/** Tells the chart, values and variables of an environment, by the rules that environments are rendered by. Sends no request. */
export interface ChartTemplates {
  /** @throws ConfigInvalid when the values of the chart or of the config set can't be read as YAML */
  templateOf(choice: TemplateChoice): ChartTemplate;
}

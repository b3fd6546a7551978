import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { Component } from "../../../crds/names.ts";
import type { ChartSource, Repository } from "../../../crds/repository/repository.ts";

/** Inputs of a template. */
export interface TemplateChoice {
  /** Absent: any, with both components and placeholders. */
  readonly repository?: Repository | undefined;
  readonly configSet?: ConfigSetSpec | undefined;
  /** False: every secret of the Repository must be given. */
  readonly generatesSecrets: boolean;
}

/** A variable in a component's pods. */
export interface TemplateVariable {
  readonly name: string;
  readonly component: Component;
  readonly required: boolean;
  readonly secret: boolean;
  /** Source of the value; `override`: none without an override. */
  readonly source: "auto" | "shared" | "config_set" | "override";
  /** Value without an override; never a secret. */
  readonly default: string | undefined;
}

/** Rendering of an environment's chart, with placeholders for values that only exist in an environment. */
export interface ChartTemplate {
  readonly chart: ChartSource;
  readonly values: Readonly<Record<string, unknown>>;
  /** Mapping of the values, as YAML with references; both absent: the platform's layout. */
  readonly mapping: { readonly chart?: string; readonly configSet?: string };
  readonly variables: readonly TemplateVariable[];
}

/** Answers an environment's chart, values and variables by the rules of rendering. Sends no request. */
export interface ChartTemplates {
  /** @throws ConfigInvalid when the values of the chart or the config set are not readable YAML */
  templateOf(choice: TemplateChoice): ChartTemplate;
}

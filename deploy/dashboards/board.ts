import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  type VariableModel,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import type { MetricName } from "../../operator/adapters/prometheus/definitions.ts";
import { DATASOURCE } from "./panels.ts";
import { valuesOf } from "./queries.ts";

/** The tag by which the dashboards link to each other. */
const TAG = "ephemeral-environments";
/** A metric that every replica and no other program has: it identifies the platform's targets. */
const OWN: MetricName = "ephemeral_watch_progress_age_seconds";

/** A dashboard: its rows of panels by title. */
export interface Board {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: Readonly<Record<string, readonly (Builder<Panel> & { id(id: number): unknown })[]>>;
  /** Variables besides the data source, the namespace and the job. */
  readonly variables?: readonly Builder<VariableModel>[];
}

/** The dashboard in Grafana's format. Its uid and the panels' ids are stable, so that links stay valid. */
export function built({ name, title, description, rows, variables = [] }: Board): Dashboard {
  const builder = new DashboardBuilder(`Ephemeral environments: ${title}`)
    .uid(`ephemeral-environments-${name}`)
    .description(description)
    .tags([TAG])
    .time({ from: "now-6h", to: "now" })
    .refresh("1m")
    .timezone("browser")
    .tooltip(DashboardCursorSync.Crosshair)
    .readonly()
    .link(otherDashboards())
    .variables([...targetVariables(), ...variables]);
  let id = 0;
  for (const [row, panels] of Object.entries(rows)) {
    id += 1;
    builder.withRow(new RowBuilder(row).id(id));
    for (const panel of panels) {
      id += 1;
      panel.id(id);
      builder.withPanel(panel);
    }
  }
  return builder.build();
}

/** A variable with the values of a label in Prometheus; default: all. */
export function choice(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .current({ selected: true, text: ["All"], value: ["$__all"] });
}

function targetVariables(): readonly Builder<VariableModel>[] {
  return [
    new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"),
    // Some Prometheus servers give targets no namespace.
    choice("namespace", "Namespace", valuesOf(OWN, "namespace", [])).allValue(".*"),
    // All found jobs, because other operators have metrics of the same names.
    choice("job", "Job", valuesOf(OWN, "job", ['namespace=~"$namespace"'])),
  ];
}

function otherDashboards(): DashboardLinkBuilder {
  return new DashboardLinkBuilder("Ephemeral environments")
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true);
}

import * as common from "@grafana/grafana-foundation-sdk/common";
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
} from "@grafana/grafana-foundation-sdk/common";
import * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimeseriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import type { Series } from "./queries.ts";

/** The Prometheus that the reader has chosen. */
export const DATASOURCE = { type: "prometheus", uid: "$datasource" };
/** The chart replaces it by the file's public address. */
const RUNBOOKS = "docs/runbooks.md";

/** The condition for red: above, below, or other than a number. */
type Bad = { readonly above: number } | { readonly below: number } | { readonly not: number };

/** A panel: its text and its queries. */
export interface Shown {
  readonly title: string;
  /** Plain sentences: the meaning of the panel, and conclusions from it. */
  readonly description: string;
  readonly unit: string;
  /** Queries by legend; `{{label}}` stands for a label's value. */
  readonly queries: Readonly<Record<string, Series<string>>>;
  readonly bad?: Bad;
  /** Alerts on the same subject: links to their runbooks. */
  readonly alerts?: readonly string[];
  /** Width, of 24 columns. */
  readonly width?: number;
  readonly height?: number;
}

/** A graph over time. */
export function graph(shown: Shown, { isStacked = false } = {}): TimeseriesBuilder {
  const panel = described(new TimeseriesBuilder(), shown)
    .height(shown.height ?? 8)
    .span(shown.width ?? 12)
    .min(0)
    .fillOpacity(isStacked ? 40 : 10)
    .showPoints(VisibilityMode.Never)
    .stacking(new common.StackingConfigBuilder().mode(isStacked ? StackingMode.Normal : StackingMode.None))
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(["lastNotNull", "max"]),
    )
    .tooltip(new common.VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .colorScheme(new dashboard.FieldColorBuilder().mode(dashboard.FieldColorModeId.PaletteClassicByName));
  for (const [legend, query, refId] of queriesOf(shown)) {
    panel.withTarget(new DataqueryBuilder().refId(refId).expr(query.text).legendFormat(legend).range());
  }
  if (shown.bad === undefined) return panel;
  const style = new common.GraphThresholdsStyleConfigBuilder().mode(GraphThresholdsStyleMode.Dashed);
  return panel.thresholds(thresholds(shown.bad)).thresholdsStyle(style);
}

/** A current number. */
export function figure(shown: Shown): StatBuilder {
  const panel = described(new StatBuilder(), shown)
    .height(shown.height ?? 4)
    .span(shown.width ?? 4)
    .noValue("none yet")
    .graphMode(BigValueGraphMode.None)
    .colorMode(shown.bad === undefined ? BigValueColorMode.None : BigValueColorMode.Value)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(["lastNotNull"]))
    .thresholds(shown.bad === undefined ? neutral() : thresholds(shown.bad));
  for (const [legend, query, refId] of queriesOf(shown)) {
    panel.withTarget(new DataqueryBuilder().refId(refId).expr(query.text).legendFormat(legend).instant());
  }
  return panel;
}

function described<Panel extends TimeseriesBuilder | StatBuilder>(panel: Panel, shown: Shown): Panel {
  panel.title(shown.title).description(shown.description).datasource(DATASOURCE).unit(shown.unit);
  const { alerts = [] } = shown;
  if (alerts.length > 0) panel.links(alerts.map(runbook));
  return panel;
}

function runbook(alert: string): dashboard.DashboardLinkBuilder {
  return new dashboard.DashboardLinkBuilder(`Runbook: ${alert}`)
    .type(dashboard.DashboardLinkType.Link)
    .url(`${RUNBOOKS}#${alert.toLowerCase()}`)
    .targetBlank(true);
}

function queriesOf({ queries }: Shown) {
  return Object.entries(queries).map(
    ([legend, query], index) => [legend, query, String.fromCharCode("A".charCodeAt(0) + index)] as const,
  );
}

const neutral = () => new dashboard.ThresholdsConfigBuilder().steps([{ value: null, color: "text" }]);

function thresholds(bad: Bad): dashboard.ThresholdsConfigBuilder {
  return new dashboard.ThresholdsConfigBuilder().mode(dashboard.ThresholdsMode.Absolute).steps(steps(bad));
}

/** A step begins at its number; the first has none. */
function steps(bad: Bad): dashboard.Threshold[] {
  const [good, wrong] = ["green", "red"];
  if ("above" in bad) return [none(good), { value: bad.above, color: wrong }];
  if ("below" in bad) return [none(wrong), { value: bad.below, color: good }];
  return [none(wrong), { value: bad.not, color: good }, { value: bad.not + 1, color: wrong }];
}

const none = (color: string): dashboard.Threshold => ({ value: null, color });

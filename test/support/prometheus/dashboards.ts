import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("../../../deploy/charts/platform/files/dashboards/", import.meta.url);

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly datasource: object;
  readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
  readonly links?: readonly { readonly url: string }[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit: string;
      readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
    };
  };
}

export interface WrittenDashboard {
  readonly file: string;
  readonly uid: string;
  /** Panels without the titles of rows. */
  readonly panels: readonly Panel[];
  /** The queries of its variables, such as `label_values(up, job)`. */
  readonly variables: readonly string[];
}

export const DASHBOARDS: readonly WrittenDashboard[] = readdirSync(FOLDER)
  .sort()
  .map((file) => {
    const { uid, panels, templating } = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as {
      uid: string;
      panels: readonly Panel[];
      templating: { list: readonly { type: string; query: string }[] };
    };
    return {
      file,
      uid,
      panels: panels.filter(({ type }) => type !== "row"),
      variables: templating.list.filter(({ type }) => type === "query").map(({ query }) => query),
    };
  });

/** A query as sent by Grafana, with all namespaces, all controllers and these jobs chosen. */
export function asQueried(expr: string, job: string): string {
  const chosen = { namespace: ".*", job, controller: ".*", __rate_interval: "1m", __range: "1h" };
  return Object.entries(chosen).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr);
}

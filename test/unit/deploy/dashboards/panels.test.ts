import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { OBJECTIVES_OF_COUNTS, OBJECTIVES_OF_USAGE } from "../../../../api/observability/objectives.ts";
import { FAST_BURN, OBJECTIVES } from "../../../../deploy/dashboards/objectives.ts";
import { DASHBOARDS, type Panel } from "../../../support/prometheus/dashboards.ts";

const ALERTS = new URL("../../../../deploy/charts/platform/files/alerts.yaml", import.meta.url);
const RUNBOOKS = new URL("../../../../docs/runbooks.md", import.meta.url);

const { groups } = parse(readFileSync(ALERTS, "utf8")) as {
  groups: readonly { rules: readonly { alert: string; expr: string }[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const panels = DASHBOARDS.flatMap(({ file, panels: all }) =>
  all.map((panel) => ({ name: `${file}: ${panel.title}`, panel })),
);
const anchorsOf = ({ links = [] }: Panel) => links.map(({ url }) => url.replace("docs/runbooks.md#", ""));
const redFrom = ({ fieldConfig }: Panel) =>
  (fieldConfig.defaults.thresholds?.steps ?? []).flatMap(({ value }) => (value === null ? [] : [value]));

function boundsOf(expr: string): readonly number[] {
  const [, bound = "", factor] = /(?:[<>]|!=) ([\d.]+)(?: \* ([\d.]+))?/.exec(expr) ?? [];
  const [, bucket] = /le="([\d.]+)"/.exec(expr) ?? [];
  // The threshold of a count above zero is one.
  const first = Number(bound) === 0 ? 1 : Number(bound);
  return [
    first,
    ...(factor === undefined ? [] : [1 - Number(factor)]),
    ...(bucket === undefined ? [] : [Number(bucket)]),
  ];
}

describe("the panels of the dashboards", () => {
  test("are three dashboards with uids of their own", () => {
    expect(DASHBOARDS.map(({ file }) => file)).toEqual(["controllers.json", "dependencies.json", "overview.json"]);
    expect(DASHBOARDS.map(({ uid }) => uid)).toEqual(
      DASHBOARDS.map(({ file }) => `ephemeral-environments-${file.replace(".json", "")}`),
    );
  });

  test.each(panels)("$name says what it is, in a unit, of the chosen Prometheus", ({ panel }) => {
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/);
    expect(panel.fieldConfig.defaults.unit).not.toBe("");
    expect(panel.datasource).toEqual({ type: "prometheus", uid: "$datasource" });
    const refs = panel.targets.map(({ refId }) => refId);
    expect(new Set(refs).size).toBe(refs.length);
    expect(refs.length).toBeGreaterThan(0);
    for (const { legendFormat } of panel.targets) expect(legendFormat).not.toBe("");
  });

  test.each(DASHBOARDS)("of $file have ids and places of their own on the grid", ({ panels: all }) => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { gridPos } of all) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (const [index, { gridPos: one, title }] of all.entries()) {
      const over = all.slice(index + 1).filter(({ gridPos: other }) => areOver(one, other));
      expect({ title, over }).toEqual({ title, over: [] });
    }
  });

  test("link to a runbook of every alert, and to no other", () => {
    const linked = new Set(panels.flatMap(({ panel }) => anchorsOf(panel)));
    expect([...linked].sort()).toEqual(alerts.map(({ alert }) => alert.toLowerCase()).sort());
    const titles = readFileSync(RUNBOOKS, "utf8").match(/(?<=^## ).+$/gm) ?? [];
    expect(titles.map((title) => title.toLowerCase())).toEqual(expect.arrayContaining([...linked]));
  });

  test.each(panels.filter(({ panel }) => redFrom(panel).length > 0))(
    "$name is red where an alert fires",
    ({ panel }) => {
      const related = alerts.filter(({ alert }) => anchorsOf(panel).includes(alert.toLowerCase()));
      expect(related.length).toBeGreaterThan(0);
      expect(related.flatMap(({ expr }) => boundsOf(expr))).toContain(redFrom(panel)[0]);
    },
  );

  test("have the objectives of the REST interface", () => {
    const served = [...OBJECTIVES_OF_USAGE, ...OBJECTIVES_OF_COUNTS];
    expect(OBJECTIVES.map(({ target }) => target)).toEqual(served.map(({ target }) => target));
    for (const { alert, target } of OBJECTIVES) {
      const expr = alerts.find((one) => one.alert === alert)?.expr ?? "";
      const [factor, share] = boundsOf(expr);
      expect([factor, share]).toEqual([FAST_BURN, target]);
    }
  });
});

function areOver(one: Panel["gridPos"], other: Panel["gridPos"]): boolean {
  const isBeside = one.x + one.w <= other.x || other.x + other.w <= one.x;
  const isBelow = one.y + one.h <= other.y || other.y + other.h <= one.y;
  return !isBeside && !isBelow;
}

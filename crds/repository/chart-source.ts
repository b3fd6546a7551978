/** Sources of charts: the three kinds, and their rules. */
import type { CelRule } from "../schema.ts";

/** A folder of a git repository. */
export interface GitChart {
  /** Address by http or https. */
  readonly repoUrl: string;
  readonly path: string;
  /** Branch, tag or commit; of a Repository, also `COMMIT_REVISION`. */
  readonly revision: string;
}

/** A chart of a Helm repository (http or https), or of an OCI registry (`oci://host/prefix`). */
export interface PackagedChart {
  readonly repoUrl: string;
  readonly chart: string;
  /** One exact version. */
  readonly version: string;
}

/** Source of a chart. */
export type ChartSource = GitChart | PackagedChart;

export const OCI_SCHEME = "oci://";

/** Stands for the commit of the environment's own backend. */
export const COMMIT_REVISION = "{commit}";

/** True when the chart comes from a Helm repository or an OCI registry. */
export const isPackaged = (source: ChartSource): source is PackagedChart => "chart" in source;

/** The source with the commit in place of `{commit}`; any other is as it was. */
export function sourceAt(source: ChartSource, commit: string | undefined): ChartSource {
  if (isPackaged(source) || source.revision !== COMMIT_REVISION) return source;
  if (commit === undefined) throw new Error("the commit that the chart is of is not settled");
  return { ...source, revision: commit };
}

/**
 * One exact version by https://semver.org, with Helm's optional `v`: a range would change what runs without a write,
 * and make Argo CD read the whole index.
 */
const VERSION_PATTERN =
  "^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?$";

/**
 * Name of a repository on a registry,
 * https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests.
 */
const OCI_NAME_PATTERN = "^[a-z0-9]+([._-]+[a-z0-9]+)*$";

/** Places that a login may be sent to: a registry is asked by https alone. Their hosts have no brackets. */
const TRUSTED_PLACE_PATTERN = "^(https://|oci://|http://(127[.]0[.]0[.]1|localhost)(:[0-9]+)?(/|$))";

/** The fields of a chart before its rules are judged. */
interface ChartFields {
  readonly repoUrl: string;
  readonly credentialsRef?: object;
  readonly path?: string;
  readonly revision?: string;
  readonly chart?: string;
  readonly version?: string;
}

interface ChartRule extends CelRule {
  readonly message: string;
  readonly holds: (chart: ChartFields) => boolean;
}

const isOci = ({ repoUrl }: ChartFields) => repoUrl.startsWith(OCI_SCHEME);
const inGit = ({ path, revision }: ChartFields) => path !== undefined || revision !== undefined;
const inPackage = ({ chart, version }: ChartFields) => chart !== undefined || version !== undefined;
const IS_OCI = `self.repoUrl.startsWith('${OCI_SCHEME}')`;
const IN_GIT = "(has(self.path) || has(self.revision))";
const IN_PACKAGE = "(has(self.chart) || has(self.version))";

/** Rules in this order; each has its own message. */
const CHART_RULES: readonly ChartRule[] = [
  {
    rule: `!${IS_OCI} || !${IN_GIT}`,
    holds: (chart) => !isOci(chart) || !inGit(chart),
    message: "an OCI registry has no path and no revision: name chart and version",
  },
  {
    rule: `!${IN_GIT} || !${IN_PACKAGE}`,
    holds: (chart) => !inGit(chart) || !inPackage(chart),
    message:
      "path and revision are of a git repository, chart and version of a Helm repository or an OCI registry: name one pair of them",
  },
  {
    rule: `!(${IS_OCI} || ${IN_PACKAGE}) || (has(self.chart) && has(self.version))`,
    holds: (chart) => !(isOci(chart) || inPackage(chart)) || (chart.chart !== undefined && chart.version !== undefined),
    message: "a chart of a Helm repository or an OCI registry has both chart and version",
  },
  {
    rule: `${IS_OCI} || ${IN_PACKAGE} || (has(self.path) && has(self.revision))`,
    holds: (chart) => isOci(chart) || inPackage(chart) || (chart.path !== undefined && chart.revision !== undefined),
    message:
      "a chart of a git repository has both path and revision; one of a Helm repository or an OCI registry, chart and version",
  },
  {
    rule: `!${IS_OCI} || !has(self.chart) || self.chart.matches('${OCI_NAME_PATTERN}')`,
    holds: (chart) => !isOci(chart) || new RegExp(OCI_NAME_PATTERN).test(chart.chart ?? "x"),
    fieldPath: ".chart",
    message: "names in an OCI registry have lower-case letters, digits and, between them, '.', '_' and '-'",
  },
  {
    rule: `!has(self.version) || self.version.matches('${VERSION_PATTERN}')`,
    holds: ({ version }) => version === undefined || new RegExp(VERSION_PATTERN).test(version),
    fieldPath: ".version",
    message:
      "is no exact version, such as 1.2.3 or 1.2.3-rc.1: ranges, short versions and names such as latest are not taken",
  },
  {
    rule: `!has(self.revision) || self.revision == '${COMMIT_REVISION}' || !self.revision.matches('[{}]')`,
    holds: ({ revision = "" }) => revision === COMMIT_REVISION || !/[{}]/.test(revision),
    fieldPath: ".revision",
    message: `${COMMIT_REVISION}, and nothing beside it, is the only text in braces: the commit of the environment's own backend`,
  },
  {
    rule: `!has(self.credentialsRef) || self.repoUrl.matches('${TRUSTED_PLACE_PATTERN}')`,
    holds: ({ repoUrl, credentialsRef }) =>
      credentialsRef === undefined || new RegExp(TRUSTED_PLACE_PATTERN).test(repoUrl),
    fieldPath: ".credentialsRef",
    message: "credentials are sent by https only, or to this very machine: correct repoUrl",
  },
];

/** Rules for the API server. */
export const CHART_CEL_RULES: readonly CelRule[] = CHART_RULES.map(({ holds: _, ...rule }) => rule);

/** Rule for a Repository with the chart beside its code; for the API server. */
export const COMMIT_CHART_RULE: CelRule = {
  rule: `!has(self.chart) || !has(self.chart.revision) || self.chart.revision != '${COMMIT_REVISION}' || self.chart.repoUrl == self.cloneUrl`,
  fieldPath: ".chart.revision",
  message: `${COMMIT_REVISION} is a commit of the Repository's own code: chart.repoUrl has to be the same text as cloneUrl`,
};

/** Problem of the default chart beyond its schema, by field; `undefined` when there is none. */
export function defaultChartProblem(
  chart: ChartFields,
): { readonly field: string; readonly problem: string } | undefined {
  const broken = CHART_RULES.find(({ holds }) => !holds(chart));
  if (broken !== undefined) return { field: broken.fieldPath?.replace(".", "/") ?? "", problem: broken.message };
  if (chart.revision !== COMMIT_REVISION) return undefined;
  const problem = `${COMMIT_REVISION} is a commit of a Repository's own code: the default chart is of no Repository`;
  return { field: "/revision", problem };
}

/** Writes `docs/rights.md`; with `--check` fails when it is outdated. */
import { code, generated, tableRow } from "../../crds/generated.ts";
import { GATE_ROLE, PEOPLE_ROLES, PLATFORM_ROLES, type PlatformRole, type Right } from "./rights.ts";

const WHERE: Readonly<Record<PlatformRole["where"], string>> = {
  cluster: "the whole cluster",
  environments: "each environment's namespace, by a binding that the platform makes there",
  release: "the release's namespace",
  default: "the namespace `default`",
  secrets: "`settings.secretsNamespace`",
  deployer: "`settings.deployer.namespace`",
};

const HEAD = `# Rights

<!-- Written by operator/installation/generate.ts: run 'make generate' after a change. -->

Every right that the chart gives the platform's ServiceAccount, and what would not work without it. There are no others: a test compares the
chart's roles with this table, and tries the account on a real API server. RBAC can't say which objects of a kind, so policies
([deploy/charts/platform/README.md](../deploy/charts/platform/README.md#policies)) narrow what is written to what is the platform's.
`;

const content = [
  HEAD,
  ...PLATFORM_ROLES.flatMap(({ kind, name, where, rights }) => [
    `## ${kind} \`${name}\`: ${WHERE[where]}`,
    "",
    ...table(rights),
    "",
  ]),
  "## For the gate",
  "",
  "The gate has a ServiceAccount of its own, `gate`, and no other right than these. They are there where `gate.enabled` of the chart is set.",
  "",
  `### ClusterRole \`${GATE_ROLE.name}\``,
  "",
  ...table(GATE_ROLE.rights),
  "",
  "## For people",
  "",
  "People do not have these unless you bind them, or `roles.aggregateToView` and `roles.aggregateToAdmin` of the chart make them part of Kubernetes' own roles.",
  "",
  ...PEOPLE_ROLES.flatMap(({ name, rights }) => [`### ClusterRole \`${name}\``, "", ...table(rights), ""]),
].join("\n");

generated("docs/rights.md", content);

function table(rights: readonly Right[]): string[] {
  return [tableRow(["Resources", "Verbs", "Why"]), tableRow(["---", "---", "---"]), ...rights.map(rowOf)];
}

function rowOf({ rule: { group, resources, resourceNames, verbs }, why }: Right): string {
  const named = resourceNames === undefined ? "" : ` named ${resourceNames.map(code).join(", ")}`;
  const of = group === "" ? "" : ` (\`${group}\`)`;
  return tableRow([`${resources.map(code).join(", ")}${of}${named}`, verbs.join(", "), why]);
}

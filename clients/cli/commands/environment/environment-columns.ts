import type { EnvironmentReport, ListedEnvironmentReport } from "../../../sdk/index.ts";
import type { Column } from "../../output/table.ts";
import { spanTo } from "../../output/times.ts";

type Environment = ListedEnvironmentReport | EnvironmentReport;

/** Status, and the switches that matter for use. */
export const stateOf = ({ status, suspended, sleep, protected: isProtected }: Environment) =>
  [status, ...(suspended || sleep?.state === "asleep" ? ["asleep"] : []), ...(isProtected ? ["protected"] : [])].join(
    ", ",
  );

/** URL for people. */
export const urlOf = ({ urls }: Pick<Environment, "urls">) => urls.frontend ?? urls.backend;

const sourceOf = (source: Environment["repositories"]["backend"] | undefined) =>
  source && `${source.repo}@${source.branch}${source.commit ? ` ${source.commit.slice(0, 7)}` : ""}`;

export const environmentColumns: readonly Column<Environment>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "STATUS", of: stateOf },
  { title: "URL", of: urlOf },
  { title: "EXPIRES", of: expiryOf },
  { title: "AGE", of: ({ created_at }) => spanTo(created_at) },
  { title: "CREATOR", of: ({ creator }) => creator.email || creator.name },
  { title: "BACKEND", of: ({ repositories }) => sourceOf(repositories.backend), wide: true },
  { title: "FRONTEND", of: ({ repositories }) => sourceOf(repositories.frontend), wide: true },
  { title: "ID", of: ({ id }) => id, wide: true },
];

function expiryOf({ expires_at }: Environment): string {
  const isOver = Date.parse(expires_at) < Date.now();
  return isOver ? `${spanTo(expires_at)} ago` : `in ${spanTo(expires_at)}`;
}

/** Environment in the forms of the output. */
export const shownEnvironment = (report: EnvironmentReport) => ({
  data: report,
  items: [report],
  columns: environmentColumns,
  name: ({ name }: EnvironmentReport) => name,
});

import type { EnvironmentReport, EnvironmentSource } from "../../sdk/index.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Ago, Until } from "../parts/when.tsx";
import { moneyText, shortCommit } from "../parts/words.ts";
import { StepsView } from "./steps-view.tsx";
import { UrlsView } from "./urls-view.tsx";

type Scheduled = NonNullable<EnvironmentReport["sleep"]>;

/** Parts of an environment, its addresses, and its progress. */
export function Overview({ environment }: { readonly environment: EnvironmentReport }) {
  return (
    <div class="columns">
      <div class="column">
        <UrlsView environment={environment} />
        <StepsView environment={environment} />
      </div>
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Details</h2>
        <Facts of={factsOf(environment)} />
      </section>
    </div>
  );
}

function factsOf(environment: EnvironmentReport): readonly Fact[] {
  const { repositories, creator, configuration, cluster, cost } = environment;
  const { frontend } = repositories;
  return [
    ["Expires", whenItExpires(environment)],
    ["Lifetime", `${environment.ttl_hours} h from creation`],
    ...(environment.sleep === null ? [] : [["Sleep", <Sleep key="sleep" of={environment.sleep} />] as const]),
    ["Created", <Ago key="created" at={environment.created_at} />],
    ["Created by", creator.name || creator.email || "unknown"],
    ["Backend", <Source key="backend" of={repositories.backend} />],
    ...(frontend === undefined ? [] : [["Frontend", <Source key="frontend" of={frontend} />] as const]),
    ["Config set", configuration.config_set || "none"],
    ["Database", configuration.database_provisioned ? `PostgreSQL${originOf(environment)}` : "none"],
    ["Secrets", configuration.auto_generated_secrets ? "generated" : "all given"],
    ["Namespace", <code key="namespace">{cluster.namespace}</code>],
    ...(environment.managed_by === null ? [] : [["Kept by", environment.managed_by] as const]),
    ["Cost so far", moneyText(cost.actual, cost.currency)],
    ["Cost until it expires", moneyText(cost.forecast, cost.currency)],
  ];
}

/** Words for the data that its database began with. */
function originOf({ database_from: source, database_seed: seed }: EnvironmentReport): string {
  if (source !== null) return `, a copy of ${source}`;
  if (seed === null) return "";
  const { image, path, commit = "" } = seed;
  return `, with ${path} of ${image ?? `the backend's repository at ${commit.slice(0, 8)}`}`;
}

function whenItExpires({
  protected: isProtected,
  protected_until: until,
  expires_at: expires,
}: EnvironmentReport): Fact[1] {
  if (!isProtected) return <Until at={expires} />;
  if (until === null) return "never, while it is protected";
  return (
    <span>
      <Until at={until} />, protected until then
    </span>
  );
}

function Sleep({ of }: { readonly of: Scheduled }) {
  const { state, cause, next_at: next } = of;
  return (
    <span title={wishOf(of)}>
      {state}
      {cause === "person" && ", kept awake"}
      {cause === "request" && ", woken by a request"}
      {state === "asleep" && cause === "idle" && ", was idle"}
      {next !== null && (
        <>
          , {state === "asleep" ? "wakes" : "sleeps"} <Until at={next} />
        </>
      )}
    </span>
  );
}

function wishOf({ schedule, after_idle_minutes: idle }: Scheduled): string {
  const hours = schedule === null ? [] : [`awake ${schedule.awake.join(", ")}, ${schedule.time_zone}`];
  return [...hours, ...(idle === null ? [] : [`sleeps after ${idle} idle minutes`])].join("; ");
}

function Source({ of: { repo, branch, commit } }: { readonly of: EnvironmentSource }) {
  return (
    <span class="source">
      {repo} <span class="branch">{branch}</span>
      {commit && <code title={commit}>{shortCommit(commit)}</code>}
    </span>
  );
}

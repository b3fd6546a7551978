import { type ConfigSet, referredVariables } from "../../../crds/config-set.ts";
import { appliedAnnotation } from "../../../crds/environment/applied-state.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { admits, type Repository } from "../../../crds/repository/repository.ts";
import { TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import { completed } from "../components.ts";
import { type Decided, type DecisionContext, nothing, type Subject, verdict } from "../decision.ts";
import { withReports } from "../pipeline/report.ts";
import type { Head, MayCreate } from "./decision.ts";
import type { PullRequestFacts } from "./facts.ts";

type Trigger = NonNullable<EnvironmentSpec["trigger"]>;

/** A pull request whose environment may be created under this name. */
interface Creation extends MayCreate {
  readonly name: string;
  readonly facts: PullRequestFacts;
  readonly head: Head;
  readonly subject: Subject;
}

/**
 * Creation of a pull request's environment. Continues the trace with its own conditions: the companion's Repository and
 * the config set.
 *
 * @throws HostUnavailable when the companion's host is unreachable, SecretsUnavailable
 */
export async function creationOf(creation: Creation, context: DecisionContext): Promise<Decided> {
  const { name, facts, subject, head } = creation;
  const { repository, state } = facts;
  const sourceOf = (one: Repository) => {
    const named = { ...head, repository: one.metadata.name, branch: head.branch ?? state.baseRef };
    return withReports(named, one, facts);
  };
  // The author of a fork must not choose a branch of ours by its name.
  const branch = state.isFork ? undefined : state.headRef;
  const components = await completed({ repository, sourceOf, branch }, context);
  const problem = typeof components === "string" ? components : undefined;
  const trace = [...creation.trace, verdict(repository, "companion_repo", problem)];
  if (typeof components === "string") return nothing("CompanionUnusable", components, trace);

  const configSet = configSetOf(facts, components.groups, context);
  const isUsable = typeof configSet !== "string";
  const all = [...trace, verdict(repository, "config_set", isUsable ? undefined : configSet)];
  if (!isUsable) return nothing("ConfigSetUnusable", configSet, all);

  const spec: EnvironmentSpec = {
    ttlHours: ttlHours(facts, configSet, context),
    ...(configSet === undefined ? {} : { configSet: { name: configSet.metadata.name } }),
    ...(configSet?.spec.database?.enabled ? { database: { provision: true } } : {}),
    ...components.sources,
    access: { groups: components.groups },
    trigger: triggerOf(facts, subject),
  };
  const annotations = appliedAnnotation(state);
  return { decision: { do: "create", name, spec, annotations, reason: "RulesMet" }, trace: all };
}

/** Config set of the rules; a sentence when an environment of this pull request can't have it. */
function configSetOf(
  { rules, state }: PullRequestFacts,
  groups: readonly string[],
  { configSets }: DecisionContext,
): ConfigSet | string | undefined {
  const name = rules.configSet;
  if (name === undefined) return undefined;
  const configSet = configSets.find(name);
  if (configSet === undefined) return `there is no config set '${name}'`;
  if (configSet.spec.production) return `config set '${name}' is for production`;
  if (!admits(configSet, groups)) return `config set '${name}' is not shared with a group of the environment`;
  const secrets = state.isFork ? referredVariables(configSet.spec, true) : [];
  return secrets.length === 0
    ? configSet
    : `config set '${name}' reads ${secrets.join(", ")} from the secret manager: a fork gets none of it`;
}

function ttlHours(
  { rules }: PullRequestFacts,
  configSet: ConfigSet | undefined,
  { settings }: DecisionContext,
): number {
  const hours = rules.ttlHours ?? configSet?.spec.ttlDefaultHours ?? TTL_DEFAULT_HOURS;
  return Math.min(hours, settings.ttl.maximumHours);
}

function triggerOf({ repository, state }: PullRequestFacts, { host, delivery }: Subject): Trigger {
  return {
    kind: "pull_request",
    provider: host,
    repository: repository.metadata.name,
    number: state.number,
    ...(state.login === undefined ? {} : { login: state.login }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

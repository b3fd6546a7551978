import type { Settings } from "../../config/settings.ts";
import { type ChartSource, isPackaged } from "../../crds/repository/chart-source.ts";
import {
  branchOf,
  generatedSecrets,
  type Repository,
  type RepositorySpec,
  tagTemplateOf,
} from "../../crds/repository/repository.ts";
import { CREATE_ACTIONS, DELETE_ACTIONS, NOTIFIED_EVENTS } from "../../crds/repository/webhook-rules.schema.ts";
import type { Reload } from "../../operator/ports/repositories.ts";
import type { ChartReport, ReloadReport, RepositoryReport } from "./schemas.ts";

const DEFAULTS = { companionRepository: null, maxEnvironments: null, overridable: [], port: 8080, healthPath: "/" };
const DEFAULT_HOST = { provider: null, hostId: null, fullName: null };
const DEFAULT_PULL_REQUEST = {
  enabled: false,
  createOn: [...CREATE_ACTIONS],
  deleteOn: [...DELETE_ACTIONS],
  skipDraft: false,
  requiredLabels: [],
  branchPattern: null,
  ttlHours: null,
  configSet: null,
  forks: "deny" as const,
};
const DEFAULT_PIPELINE = { createOnSuccess: true, onCanceled: "own" as const };
const DEFAULT_NOTIFY = { chatChannel: null, events: [...NOTIFIED_EVENTS] };

/** Repository in REST's form, with all defaults filled in. */
export function toRepository(repository: Repository, settings: Settings): RepositoryReport {
  const { metadata, spec, status } = repository;
  const { companionRepository, maxEnvironments, overridable, port, healthPath } = { ...DEFAULTS, ...spec };
  return {
    id: metadata.name,
    name: metadata.name,
    type: spec.type,
    ...hostOf(spec),
    default_branch: branchOf(repository),
    ...(spec.type === "backend" ? { chart: toChart(spec.chart ?? settings.defaultChart) } : {}),
    image: { repository: spec.image.repository, tag_template: tagTemplateOf(repository) },
    port,
    health_path: healthPath,
    secrets: generatedSecrets(repository).map(({ name, kind, length }) => ({ name, kind, length })),
    overridable,
    companion_repo: companionRepository,
    max_environments: maxEnvironments,
    access: { groups: spec.access?.groups ?? [] },
    pull_request: pullRequestOf(spec),
    ...otherRulesOf(spec),
    reachable: status?.reachable ?? null,
    last_checked_at: status?.lastCheckedAt === undefined ? null : new Date(status.lastCheckedAt).toISOString(),
  };
}

function hostOf(spec: RepositorySpec) {
  const { provider, hostId, fullName, cloneUrl } = { ...DEFAULT_HOST, ...spec };
  return { provider, host_id: hostId, full_name: fullName, clone_url: withoutCredentials(cloneUrl) };
}

/** Source of a chart in version 1's fields for git. */
export function toChart(source: ChartSource): ChartReport {
  const repo_url = withoutCredentials(source.repoUrl);
  return isPackaged(source)
    ? { repo_url, path: source.chart, revision: source.version }
    : { repo_url, path: source.path, revision: source.revision };
}

function pullRequestOf(spec: RepositorySpec): RepositoryReport["pull_request"] {
  const rules = { ...DEFAULT_PULL_REQUEST, ...spec.pullRequest };
  return {
    enabled: rules.enabled,
    create_on: rules.createOn,
    delete_on: rules.deleteOn,
    skip_draft: rules.skipDraft,
    required_labels: rules.requiredLabels,
    branch_pattern: rules.branchPattern,
    ttl_hours: rules.ttlHours,
    config_set: rules.configSet,
    forks: rules.forks,
  };
}

function otherRulesOf(spec: RepositorySpec) {
  const pipeline = { ...DEFAULT_PIPELINE, ...spec.pipeline };
  const notify = { ...DEFAULT_NOTIFY, ...spec.notify };
  return {
    pipeline: { create_on_success: pipeline.createOnSuccess, on_canceled: pipeline.onCanceled },
    notify: { chat_channel: notify.chatChannel, on: notify.events },
  };
}

/** Credentials in an address are never shown. */
function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return "";
  const url = new URL(address);
  if (url.username === "" && url.password === "") return address;
  url.username = "";
  url.password = "";
  return url.href;
}

/** Result of a reload. */
export function toReload({ loaded, added, updated, removed, errors }: Reload): ReloadReport {
  return {
    loaded,
    added: [...added],
    updated: [...updated],
    removed: [...removed],
    errors: errors.map(({ name, message }) => ({ id: name, message })),
  };
}

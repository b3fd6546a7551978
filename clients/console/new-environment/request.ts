import type { CreateEnvironmentReportRequest } from "../../sdk/index.ts";

/** Content of the form, as text. Empty: left out. */
export interface Draft {
  readonly environment_name: string;
  readonly backend_repo: string;
  readonly backend_branch: string;
  readonly backend_commit: string;
  readonly frontend_repo: string;
  readonly frontend_branch: string;
  readonly config_set: string;
  readonly ttl: string;
  /** "yes", "no", or by the config set. */
  readonly provision_database: string;
  readonly use_shared_api_keys: string;
  /** Chart values as YAML. */
  readonly overrides: string;
}

type Field = keyof Draft;
export const EMPTY: Draft = {
  environment_name: "",
  backend_repo: "",
  backend_branch: "",
  backend_commit: "",
  frontend_repo: "",
  frontend_branch: "",
  config_set: "",
  ttl: "",
  provision_database: "",
  use_shared_api_keys: "",
  overrides: "",
};

/** Draft from the form's fields. */
export function draftOf(values: FormData): Draft {
  const text = (name: Field) => {
    const value = values.get(name);
    // Spaces at the beginning of the first line are a part of YAML.
    return typeof value !== "string" ? "" : name === "overrides" ? value.trimEnd() : value.trim();
  };
  return Object.fromEntries(Object.keys(EMPTY).map((name) => [name, text(name as Field)])) as unknown as Draft;
}

type Values = NonNullable<NonNullable<CreateEnvironmentReportRequest["config_overrides"]>["helm_values"]>;

/** Request for a draft; `values` are its parsed overrides. */
export function requestOf(draft: Draft, values: Values | undefined): CreateEnvironmentReportRequest {
  const { environment_name, backend_repo, backend_branch, backend_commit, frontend_repo, frontend_branch } = draft;
  return {
    environment_name,
    backend_repo,
    backend_branch,
    ...(backend_commit && { backend_commit }),
    ...(frontend_repo && { frontend_repo }),
    ...(frontend_repo && frontend_branch && { frontend_branch }),
    ...(draft.config_set && { config_set: draft.config_set }),
    ...(draft.ttl && { ttl: Number(draft.ttl) }),
    ...(draft.provision_database && { provision_database: draft.provision_database === "yes" }),
    ...(draft.use_shared_api_keys && { use_shared_api_keys: true }),
    ...(values && { config_overrides: { helm_values: values } }),
  };
}

/** Equivalent command. */
export function commandOf(draft: Draft): string {
  const flag = (name: string, value: string) => (value === "" ? [] : [`--${name} ${quoted(value)}`]);
  const words = [
    `eenv create ${quoted(draft.environment_name || "NAME")}`,
    ...flag("repo", draft.backend_repo || "REPOSITORY"),
    ...flag("branch", draft.backend_branch || "BRANCH"),
    ...flag("commit", draft.backend_commit),
    ...flag("frontend", draft.frontend_repo),
    ...(draft.frontend_repo ? flag("frontend-branch", draft.frontend_branch) : []),
    ...flag("config-set", draft.config_set),
    ...flag("ttl", draft.ttl && `${draft.ttl}h`),
    ...(draft.provision_database ? [draft.provision_database === "yes" ? "--database" : "--no-database"] : []),
    ...(draft.use_shared_api_keys ? ["--shared-api-keys"] : []),
    ...(draft.overrides ? [`--file - <<'YAML'\n${fileOf(draft.overrides)}\nYAML`] : []),
  ];
  return words.join(" \\\n  ");
}

function fileOf(overrides: string): string {
  const indented = overrides.split("\n").map((line) => (line === "" ? line : `    ${line}`));
  return ["config_overrides:", "  helm_values:", ...indented].join("\n");
}

/** Quotes a word for a shell. */
export function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

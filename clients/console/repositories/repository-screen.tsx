import { useRoute } from "preact-iso";
import type { Repository } from "../../sdk/index.ts";
import { type Fact, Facts } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { AgoOrNever } from "../parts/when.tsx";
import { spaced } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { HookStatus } from "./hook-status.tsx";

/** One repository: facts, rules, webhook. */
export function RepositoryScreen() {
  const { id = "" } = useRoute().params;
  const repository = useLoaded(id, (signal) => platform.call("GET /api/v2/repos/{id}", { path: { id }, signal }));
  return (
    <Page title={id}>
      <div class="columns">
        <HookStatus key={id} id={id} />
        <section class="card" aria-labelledby="details">
          <h2 id="details">Details</h2>
          <LoadedView of={repository} what="The repository">
            {(value) => <Facts of={[...factsOf(value), ...rulesOf(value)]} />}
          </LoadedView>
        </section>
      </div>
    </Page>
  );
}

const listed = (words: readonly string[], none = "none") => words.map(spaced).join(", ") || none;

function factsOf(repository: Repository): readonly Fact[] {
  const { type, clone_url, default_branch, chart, image, port, health_path, companion_repo, access } = repository;
  return [
    ["Kind", type],
    [
      "Address",
      <span key="address" class="address">
        {clone_url}
      </span>,
    ],
    ["Default branch", default_branch],
    [
      "Image",
      <span key="image" class="address">
        {image.repository}:{image.tag_template}
      </span>,
    ],
    ["Port", `${port}, health at ${health_path}`],
    ...(chart === undefined ? [] : [["Chart", `${chart.path} at ${chart.revision} of ${chart.repo_url}`] as const]),
    ["Companion", companion_repo ?? "none"],
    ["Secrets", repository.secrets.map(({ name }) => name).join(", ") || "none"],
    ["Overridable", listed(repository.overridable, "variables, replicas and resources")],
    ["Groups", listed(access.groups, "everybody")],
    ["Checked", <AgoOrNever key="checked" at={repository.last_checked_at} />],
  ];
}

function rulesOf({ pull_request: rules, pipeline, max_environments }: Repository): readonly Fact[] {
  const limit: Fact = ["Environments", max_environments === null ? "any number" : `at most ${max_environments}`];
  const pipelines: Fact = [
    "Pipelines",
    pipeline.create_on_success ? "create environments when they succeed" : "create none",
  ];
  if (!rules.enabled) return [["Pull requests", "get no environments"], pipelines, limit];
  return [
    ["Pull requests", `created when ${listed(rules.create_on)}; deleted when ${listed(rules.delete_on)}`],
    ["Drafts", rules.skip_draft ? "left out" : "included"],
    ["Labels needed", listed(rules.required_labels)],
    ["Branches", rules.branch_pattern ?? "all"],
    ["Forks", rules.forks === "deny" ? "get none" : "after an approval"],
    pipelines,
    limit,
  ];
}

import { isJsonObject } from "../../../crds/json.ts";
import {
  PULL_REQUEST_ACTIONS,
  type PullRequestAction,
  PullRequestState,
} from "../../../crds/webhooks/webhook-event.schema.ts";
import { MOST_READ_LABELS, type ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { checked, type Found, optional } from "./event.ts";
import { at, integer, isSameRepository, text, timestamp } from "./payload.ts";

/** Host-specific fields; missing ones are read from the pull request. */
export interface PullRequestFields {
  readonly action: PullRequestAction;
  readonly label?: unknown;
  readonly labels?: readonly string[];
  readonly merged?: boolean;
  readonly isFork: boolean;
  readonly headRef?: unknown;
  /** Test merge commit; invalid ones are ignored. */
  readonly mergeCommit?: unknown;
}

const login = optional(PullRequestState.properties.login);
const label = optional(PullRequestState.properties.label);
const mergeCommit = optional(PullRequestState.properties.mergeCommit);

/**
 * A pull request in the form that GitHub, Gitea and the contract share.
 *
 * @param payload its `pull_request` is the whole state
 */
export function pullRequestEvent(payload: unknown, facts: PullRequestFields, now: Date): ReadEvent {
  const pull = at(payload, "pull_request");
  return pullRequest({
    number: integer(at(pull, "number") ?? at(payload, "number")),
    action: facts.action,
    // A script by the contract may leave the former state.
    state: facts.action === "closed" ? "closed" : at(pull, "state"),
    merged: facts.merged ?? at(pull, "merged") === true,
    draft: at(pull, "draft") === true,
    labels: facts.labels ?? labelNames(at(pull, "labels"), "name"),
    label: label(facts.label),
    headRef: facts.headRef ?? at(pull, "head", "ref"),
    headCommit: at(pull, "head", "sha"),
    mergeCommit: mergeCommit(facts.mergeCommit),
    isFork: facts.isFork,
    baseRef: at(pull, "base", "ref"),
    updatedAt: timestamp(at(pull, "updated_at"), now),
    login: login(at(pull, "user", "login")),
  });
}

/** The ref of a pull request's head in the repositories of GitHub and Gitea, and of hosts that speak the contract. */
export const pullRequestRef = (number: number): string => `refs/pull/${number}/head`;

const NO_COMMIT = "0".repeat(40);

/**
 * Event of a pull request. The head commit of a closed one may be gone with its repository; git's id of no commit
 * replaces it, so that its environment is still deleted.
 */
export function pullRequest(found: Found<PullRequestState>): ReadEvent {
  const isGone = found.state === "closed" && text(found.headCommit) === "";
  return checked({ type: "pull_request", pullRequest: isGone ? { ...found, headCommit: NO_COMMIT } : found });
}

/** Unique names of labels that a rule can name. @param key of the name in a label's object */
export function labelNames(labels: unknown, key: "name" | "title"): unknown {
  if (labels === undefined || labels === null) return [];
  if (!Array.isArray(labels)) return labels;
  const names = labels.flatMap((one) => label(at(one, key)) ?? []);
  return [...new Set(names)].slice(0, MOST_READ_LABELS);
}

const ACTIONS: readonly string[] = PULL_REQUEST_ACTIONS.filter((action) => action !== "updated");

/** Actions of GitHub. `edited` also reports titles and texts, which do not affect the rules. */
export function actionOf(payload: unknown): PullRequestAction {
  const action = text(at(payload, "action"));
  if (action === "edited") return isJsonObject(at(payload, "changes", "base")) ? "edited" : "other";
  return ACTIONS.includes(action) ? (action as PullRequestAction) : "other";
}

/** True when the head's repository is not the base's. A deleted one, `null`, was another. */
export function isOfFork(payload: unknown): boolean {
  const head = at(payload, "pull_request", "head", "repo");
  const base = at(payload, "pull_request", "base", "repo") ?? at(payload, "repository");
  return !isSameRepository(head, base);
}

/**
 * Test merge commit of an open pull request, which GitHub's pipelines build; null until it exists.
 * https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
 */
export function testMergeOf(payload: unknown): unknown {
  const pull = at(payload, "pull_request");
  return at(pull, "state") === "open" ? at(pull, "merge_commit_sha") : undefined;
}

import { digestOf } from "../digest.ts";
import { NAME_MAX_LENGTH, nameProblem } from "../names.ts";

/** Names of environments that webhooks make: pure, so that the API server is the lock on each. */

const HASH_LENGTH = 8;

/** Name of a pull request's environment: `<repository>-pr-<number>`, if too long shortened with a hash. */
export function pullRequestEnvironmentName(repository: string, number: number): string {
  return fitting(repository, `-pr-${number}`);
}

const PULL_REQUEST_ENDING = /-pr-([0-9]+)$/;

/**
 * True for the name of a pull request's environment of these Repositories: reviewers expect it at its address, so no
 * other environment may have it.
 */
export function isPullRequestName(name: string, repositories: readonly string[]): boolean {
  const [, number] = PULL_REQUEST_ENDING.exec(name) ?? [];
  if (number === undefined) return false;
  return repositories.some((repository) => pullRequestEnvironmentName(repository, Number(number)) === name);
}

/**
 * Name of the environment of a branch's pipelines: `<repository>-<branch>`, with a hash where the name would have
 * invalid characters, be too long or reserved, or look like a pull request's.
 */
export function branchEnvironmentName(repository: string, branch: string): string {
  const slug = branch
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const plain = `${repository}-${slug}`;
  if (slug === branch && nameProblem(plain) === undefined && !PULL_REQUEST_ENDING.test(plain)) return plain;
  const hash = hashOf([repository, branch]);
  const room = NAME_MAX_LENGTH - HASH_LENGTH - 1;
  return `${trimmed(slug === "" ? repository : plain, room)}-${hash}`;
}

function fitting(repository: string, ending: string): string {
  if (repository.length + ending.length <= NAME_MAX_LENGTH) return `${repository}${ending}`;
  const room = NAME_MAX_LENGTH - ending.length - HASH_LENGTH - 1;
  return `${trimmed(repository, room)}-${hashOf([repository])}${ending}`;
}

/** A name has no two hyphens in a row. */
const trimmed = (text: string, length: number) => text.slice(0, length).replace(/-+$/, "");

const hashOf = (parts: readonly string[]) => digestOf(parts, HASH_LENGTH);

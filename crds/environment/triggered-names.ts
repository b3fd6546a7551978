import { digestOf } from "../digest.ts";
import { NAME_MAX_LENGTH, nameProblem } from "../names.ts";

/** Names of environments that webhooks make: pure, so that the API server is the lock on each of them. */

const HASH_LENGTH = 8;

/** Name of a pull request's environment: `<repository>-pr-<number>`, shortened with a hash when it is too long. */
export function pullRequestEnvironmentName(repository: string, number: number): string {
  return fitting(repository, `-pr-${number}`);
}

const PULL_REQUEST_ENDING = /-pr-([0-9]+)$/;

/**
 * True for the name of a pull request's environment of one of these Repositories: reviewers expect their pull request
 * at its address, so no other environment may have it.
 */
export function isPullRequestName(name: string, repositories: readonly string[]): boolean {
  const [, number] = PULL_REQUEST_ENDING.exec(name) ?? [];
  if (number === undefined) return false;
  return repositories.some((repository) => pullRequestEnvironmentName(repository, Number(number)) === name);
}

/**
 * Name of the environment that the pipelines of a branch make: `<repository>-<branch>`, with a hash where the branch
 * has characters that a name can't have, or the name would be too long, is reserved or looks like a pull request's.
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

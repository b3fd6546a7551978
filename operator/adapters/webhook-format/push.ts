import type { ReadEvent } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored } from "./event.ts";
import { at, branchOfRef, isNoCommit, text } from "./payload.ts";

/** A push in the form that GitHub, Gitea, GitLab and the contract share: `ref`, `after`, and GitHub's `deleted`. */
export function pushEvent(payload: unknown): ReadEvent {
  const branch = branchOfRef(at(payload, "ref"));
  if (branch === undefined) return ignored("The push is not to a branch");
  const commit = text(at(payload, "after"));
  const deleted = at(payload, "deleted") === true || isNoCommit(commit);
  return checked({ type: "push", push: { branch, deleted, ...(deleted ? {} : { commit }) } });
}

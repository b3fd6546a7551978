import type { StickyComment } from "../../ports/webhooks/pull-request-host.ts";
import { unlessAbsent } from "./host-api.ts";

/** A comment in its host's list. */
export interface FoundComment {
  readonly id: number;
  readonly text: string;
  readonly author: number | undefined;
}

/** API calls for the comments of one pull request. */
export interface CommentCalls {
  /** Answers our own id on the host. */
  self(): Promise<number>;
  /** Comments of a page, from 1; `undefined` without such a page. */
  page(page: number): Promise<readonly FoundComment[] | undefined>;
  create(text: string): Promise<number>;
  /** @throws PullRequestHostFailed with the status 404 when it is gone */
  edit(id: number, text: string): Promise<unknown>;
}

/** Search limit: such a pull request gets another comment. */
const MOST_PAGES = 20;

/** Edits or writes the comment; answers its id. Never touches another author's comment. */
export async function putComment(
  { id, marker, text, mayCreate }: Omit<StickyComment, "number">,
  calls: CommentCalls,
): Promise<number | undefined> {
  const whole = `${marker}\n${text}`;
  if (id !== undefined && (await unlessAbsent(calls.edit(id, whole).then(() => true)))) return id;
  const found = await search(marker, calls);
  if (found !== undefined) {
    if (found.text !== whole) await calls.edit(found.id, whole);
    return found.id;
  }
  return mayCreate ? calls.create(whole) : undefined;
}

async function search(marker: string, calls: CommentCalls): Promise<FoundComment | undefined> {
  const self = await calls.self();
  for (let number = 1; number <= MOST_PAGES; number++) {
    const comments = await calls.page(number);
    const found = comments?.find(({ text, author }) => author === self && text.startsWith(marker));
    if (found !== undefined || comments === undefined) return found;
  }
  return undefined;
}

import type { ListedEnvironmentReport } from "../../sdk/index.ts";
import { countText } from "../parts/words.ts";
import { sentenceOf } from "../platform/problems.ts";

type Target = Pick<ListedEnvironmentReport, "id" | "name">;

/** Result of one action on several environments. */
export interface BulkResult {
  readonly done: readonly string[];
  readonly refused: readonly { readonly name: string; readonly sentence: string }[];
}

/** Concurrent calls, because the platform limits each caller's. */
const AT_ONCE = 4;

/** Acts on each; a refusal stops no other. */
export async function toEach(
  targets: readonly Target[],
  act: (target: Target) => Promise<unknown>,
): Promise<BulkResult> {
  const done: string[] = [];
  const refused: { name: string; sentence: string }[] = [];
  const left = [...targets];
  async function work() {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      try {
        await act(next);
        done.push(next.name);
      } catch (error) {
        refused.push({ name: next.name, sentence: sentenceOf(error) });
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, refused };
}

/** Text such as "2 environments are being deleted." */
export function doneText({ done }: BulkResult, what: string): string {
  const name = done.length === 1 ? done[0] : countText(done.length, "environment");
  return `${name} ${done.length === 1 ? "is" : "are"} ${what}`;
}

/** Refusals, each with the platform's sentence. */
export const refusedText = ({ refused }: BulkResult) =>
  refused.map(({ name, sentence }) => `${name}: ${sentence}`).join("\n");

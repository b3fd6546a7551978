import { clipped } from "../../../crds/conditions.ts";
import type { FeedbackStatus } from "../../../crds/environment/environment-status.schema.ts";
import type { Subject } from "../../host-reports/subject.ts";
import { hashOf, type Wanted } from "../../host-reports/wanted.ts";
import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";

/** What was told, and the first error. */
export interface Told {
  readonly feedback: FeedbackStatus;
  readonly error?: unknown;
}

interface Telling {
  readonly host: PullRequestHost;
  readonly subject: Subject;
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
  /** Whether the environment is still there: its end must be the last that is told. */
  readonly isLasting: () => boolean;
}

type Teller = (former: FeedbackStatus, telling: Telling) => Promise<Partial<FeedbackStatus>>;

/** The status first: merges wait for it. Each is independent of the others. */
const TELLERS: readonly Teller[] = [tellStatus, tellDeployment, tellComment];

/** Tells the host what it does not know yet. */
export async function tell(former: FeedbackStatus, telling: Telling): Promise<Told> {
  const { problem: _, ...known } = former;
  let feedback: FeedbackStatus = known;
  const errors: unknown[] = [];
  for (const teller of TELLERS) {
    telling.signal.throwIfAborted();
    if (!telling.isLasting()) break;
    try {
      feedback = { ...feedback, ...(await teller(known, telling)) };
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return { feedback };
  const [error] = errors;
  return { feedback: { ...feedback, problem: clipped(error instanceof Error ? error.message : String(error)) }, error };
}

async function tellStatus({ status }: FeedbackStatus, { host, subject, wanted, signal }: Telling) {
  if (wanted.status === undefined) return {};
  const told = hashOf(wanted.status);
  if (told === status?.told) return {};
  await host.report(subject.repository, wanted.status, signal);
  const { commit, state } = wanted.status;
  return { status: { commit, state, told } };
}

async function tellDeployment({ deployment }: FeedbackStatus, { host, subject, wanted, signal }: Telling) {
  if (wanted.deployment === undefined) return {};
  const told = hashOf(wanted.deployment);
  if (told === deployment?.told) return {};
  await host.deploy(subject.repository, wanted.deployment, signal);
  return { deployment: { told } };
}

async function tellComment({ comment }: FeedbackStatus, { host, subject, wanted, signal }: Telling) {
  if (wanted.comment === undefined) return {};
  const { id: _, mayCreate: __, ...text } = wanted.comment;
  const told = hashOf(text);
  if (told === comment?.told) return {};
  const id = await host.comment(subject.repository, wanted.comment, signal);
  return id === undefined ? {} : { comment: { id, told } };
}

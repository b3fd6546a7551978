import { namespaceName } from "../../../crds/names.ts";
import { insteadOf, isForbidden, isInvalid, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { within } from "../../kit/time/deadline.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import { type Mask, TooMuchToMask } from "../../masking/secret-mask.ts";
import type { LogLine, LogTarget } from "../../ports/api/pods.ts";
import type { Owner } from "../../ports/cluster.ts";
import { chosenPods } from "../kubernetes/component-pods.ts";
import { type LogPlace, stampedLines, wholeLines } from "../kubernetes/container-log.ts";
import { hasNamespace, makersIn, type NamespaceReader } from "../kubernetes/namespace-state.ts";
import { type ContainerStatus, containerStatuses, type Pod, podType } from "../kubernetes/pod-objects.ts";
import { podsMadeBy } from "../kubernetes/pod-problems.ts";
import { type SecretReader, secretReader, secretsOfPod } from "../kubernetes/pod-secrets.ts";

/** Selection for the kubelet. */
interface LogRequest {
  readonly lines: number;
  readonly from: Readonly<Record<string, string>>;
}

/** A line with its container. */
export interface SourcedLine extends LogLine {
  readonly key: string;
}

const READ_BYTES = 512 * 1024;
const READS_AT_ONCE = 4;
const READ_DEADLINE_MS = 5_000;
const DEADLINE_MS = 10_000;
const READ_ATTEMPTS = 3;

/** Pods of a component or a workload, ended ones too; none before the namespace is the environment's and readable. */
export async function podsOf(reader: NamespaceReader, environment: Owner, target: LogTarget): Promise<readonly Pod[]> {
  if (!hasNamespace(reader, environment)) return [];
  const { client, services } = reader;
  const namespace = namespaceName(environment.name);
  const { items } = await client.list(podType, { namespace }).catch(insteadOf(isForbidden, { items: [] }));
  if ("workload" in target) return podsMadeBy(items, target.workload, await makersIn(client, namespace, items));
  return chosenPods(items, { selectors: target.selectors, services }).of(target.component);
}

/** Secret values of some pods, and the pods whose values are unknown. */
export async function maskFor(client: KubeClient, pods: readonly Pod[]) {
  const readSecret = secretReader(client);
  // Rights come and go with a namespace, between one call and the next.
  const read: SecretReader = (ref) => readSecret(ref).catch(insteadOf(isForbidden, "forbidden"));
  const secrets = await Promise.all(pods.map((pod) => secretsOfPod(read, pod)));
  return {
    values: new Set(secrets.flatMap(({ values }) => values)),
    unmaskable: new Set(pods.filter((_pod, index) => secrets[index]?.isOneMissing).map(({ metadata }) => metadata.uid)),
  };
}

/** Replacement for the log of an unmaskable pod. */
export function unmaskableNote({ metadata }: Pod, clock: Clock): LogLine {
  const why = "a Secret that it saw is gone or can't be read, so that its values could not be masked";
  return note(clock.now(), `the log of pod '${metadata.name}' is not shown: ${why}`);
}

/** Newest lines of all sources, unmasked; holds only the requested ones and one read per source. */
export async function readAll(
  reader: NamespaceReader,
  sources: readonly LogSource[],
  request: LogRequest,
): Promise<readonly SourcedLine[]> {
  let kept: SourcedLine[] = [];
  await within({ clock: reader.clock, deadlineMs: DEADLINE_MS }, ({ signal }) =>
    eachOf(READS_AT_ONCE, sources, async (source) => {
      const lines = await readRun(reader, source, request, signal);
      kept = newest([...kept, ...lines.map((line) => ({ ...line, key: source.key }))], request.lines);
    }),
  );
  return kept;
}

/** The kubelet counts bytes from the oldest requested line on: where they don't suffice, fewer lines are requested. */
async function readRun(reader: NamespaceReader, source: LogSource, request: LogRequest, signal: AbortSignal) {
  let { lines } = request;
  for (let attempt = 1; ; attempt += 1) {
    const { text, isCut } = await readText(reader, source, { ...request, lines }, signal);
    const found = stampedLines(text);
    if (!isCut || attempt === READ_ATTEMPTS || lines === 1) return found;
    lines = Math.max(1, Math.floor(Math.min(lines, found.length) / 2));
  }
}

async function readText(
  { client, clock }: NamespaceReader,
  source: LogSource,
  { lines, from }: LogRequest,
  caller: AbortSignal,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  try {
    return await within({ clock, deadlineMs: READ_DEADLINE_MS, signals: [caller] }, ({ signal }) =>
      wholeLines(client, source, { ...from, tailLines: String(lines) }, { limitBytes: READ_BYTES, signal }),
    );
  } catch (error) {
    if (isInvalid(error) || isNotFound(error)) return { text: "", isCut: false };
    const what = `the log of container '${source.container}' of pod '${source.pod.metadata.name}'`;
    const said = note(clock.now(), `${what} can't be read now`);
    return { text: `${said.at} ${said.text}`, isCut: false };
  }
}

/** One run of one container among all of a component's. */
export interface LogSource extends LogPlace {
  /** The container among all of a component's. */
  readonly key: string;
  /** Number of the container's run, counted from 0. */
  readonly run: number;
  readonly isRunning: boolean;
}

/** All that can be read of these pods, of each container the older run first. */
export function logSources(pods: readonly Pod[]): readonly LogSource[] {
  return pods.flatMap((pod) => containerStatuses(pod).flatMap((container) => runsOf(pod, container)));
}

function runsOf(pod: Pod, { name, restartCount, state, lastState }: ContainerStatus): LogSource[] {
  const container = { pod, container: name, key: `${pod.metadata.uid}/${name}`, isPrevious: false };
  const isRunning = state?.running !== undefined;
  const hasEndedBefore = lastState?.terminated !== undefined;
  if (!isRunning && state?.terminated === undefined) {
    // While it waits to be started again, the run that ended is the last one.
    return hasEndedBefore ? [{ ...container, run: restartCount, isRunning }] : [];
  }
  const former = { ...container, run: restartCount - 1, isPrevious: true, isRunning: false };
  return [...(hasEndedBefore ? [former] : []), { ...container, run: restartCount, isRunning }];
}

const LONGEST_TEXT = 16 * 1024;
const MOST_CHARACTERS = 1024 ** 2;

const note = (at: Date, text: string) => warning(momentOf(at), text);
const warning = (at: string, text: string): LogLine => ({ at, text: `WARN ${text}` });

export const momentOf = (date: Date) => date.toISOString().replace("Z", "000000Z");

/** The last lines, in order of writing; equal moments in the given order. */
export function newest<L extends LogLine>(lines: readonly L[], count: number): L[] {
  const last = linesByTime(lines).slice(-count);
  let left = MOST_CHARACTERS;
  for (let index = last.length - 1; index >= 0; index -= 1) {
    left -= last[index]?.text.length ?? 0;
    if (left < 0) return last.slice(index + 1);
  }
  return last;
}

export function linesByTime<L extends LogLine>(lines: readonly L[]): L[] {
  return [...lines].sort(({ at: one }, { at: other }) => (one < other ? -1 : one > other ? 1 : 0));
}

/** Masks lines together, because a value may span them. If that fails, one line replaces all, with the last moment. */
export async function maskedLines(lines: readonly LogLine[], mask: Mask): Promise<readonly LogLine[]> {
  const last = lines.at(-1);
  if (last === undefined) return [];
  try {
    const texts = (await mask(lines.map(({ text }) => text).join("\n"))).split("\n");
    return lines.map(({ at }, index) => ({ at, text: shortened(texts[index] ?? "") }));
  } catch (error) {
    if (!(error instanceof TooMuchToMask)) throw error;
    return [warning(last.at, error.message)];
  }
}

const shortened = (text: string) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text);

import type { LimitFunction } from "p-limit";
import { isInvalid, isNotFound, isUnavailable } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type Clock, pause } from "../../kit/time/clock.ts";
import type { Mask, SecretMasks } from "../../masking/secret-mask.ts";
import type { FollowedLine, FollowedSelection, LogTarget } from "../../ports/api/pods.ts";
import type { Owner } from "../../ports/cluster.ts";
import { logOf, stampedLine } from "../kubernetes/container-log.ts";
import type { NamespaceReader } from "../kubernetes/namespace-state.ts";
import type { Pod } from "../kubernetes/pod-objects.ts";
import { forUser } from "../kubernetes/user-request.ts";
import {
  inOrder,
  type LogSource,
  logSources,
  maskedLines,
  maskFor,
  momentOf,
  newest,
  podsOf,
  readAll,
  type SourcedLine,
  unmaskableNote,
} from "./reading.ts";

interface Options extends NamespaceReader {
  readonly environment: Owner;
  readonly target: LogTarget;
  readonly selection: FollowedSelection;
  /** Limits readers in the initial phase. */
  readonly limit: LimitFunction;
  readonly masks: SecretMasks;
}

/** Interval of searches for new pods and containers; the second after a container's end. */
const LOOK_MS = 5_000;
const LOOK_AGAIN_MS = 1_000;
const GATHER_MS = 200;
/** Limit on missed lines, after which a reader must read the log itself. */
const MOST_MISSED = 1_000;
/** Limit on followed containers, each a connection. */
const MOST_OPEN = 50;

/** One reader of a component's or workload's log: a stream per running container, and one mailbox. */
export class PodLogFollowing {
  readonly #options: Options;
  readonly #mailbox = new PodLogMailbox();
  readonly #ending = new AbortController();
  readonly #open = new Map<string, Promise<void>>();
  /** Last completely read run by container, and moment of the last line. */
  readonly #ended = new Map<string, number>();
  readonly #moments = new Map<string, string>();
  /** Run of a container at the start: of later ones, every line is new. */
  readonly #firstRuns = new Map<string, number>();
  readonly #secrets: ReturnType<typeof followedSecrets>;
  readonly #positions = podLogPositions();
  #dueMs = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#secrets = followedSecrets(options.client, options.masks);
  }

  async *batches(): AsyncGenerator<readonly FollowedLine[]> {
    const { clock, selection, limit } = this.#options;
    const end = () => {
      this.#ending.abort();
      this.#mailbox.ring();
    };
    selection.signal.addEventListener("abort", end, { once: true });
    if (selection.signal.aborted) end();
    try {
      yield await limit(() => forUser(() => this.#begin()));
      while (!this.#ending.signal.aborted) {
        if (this.#dueMs <= clock.monotonicMs()) await this.#check();
        await this.#mailbox.wait(clock, Math.max(0, this.#dueMs - clock.monotonicMs()));
        yield await this.#gathered();
      }
    } finally {
      selection.signal.removeEventListener("abort", end);
      end();
      // A waiting writer must end too.
      this.#mailbox.take();
      await Promise.allSettled(this.#open.values());
    }
  }

  /** Reads existing lines; each container is followed from its last one. */
  async #begin(): Promise<readonly FollowedLine[]> {
    const { selection } = this.#options;
    const { after = "" } = selection;
    const pods = await this.#pods();
    const sources = logSources(pods);
    for (const { key, run, isRunning } of sources) {
      this.#firstRuns.set(key, run);
      if (!isRunning) this.#ended.set(key, run);
    }
    const request = { lines: after === "" ? selection.lines : MOST_MISSED, from: this.#start() };
    const found = (await readAll(this.#options, this.#readable(sources), request)).filter(({ at }) => at > after);
    // Lines before the oldest kept one are not requested again.
    const oldest = after || found[0]?.at;
    if (oldest !== undefined) for (const key of this.#firstRuns.keys()) this.#moments.set(key, oldest);
    for (const { key, at } of found) this.#moments.set(key, at);
    this.#dueMs = this.#options.clock.monotonicMs();
    const goingOn = sources.filter(({ isRunning }) => isRunning).map(({ key }) => key);
    if (after !== "") this.#positions.begin(goingOn, after);
    return this.#delivered(newest([...found, ...this.#mailbox.take()], request.lines), goingOn);
  }

  #start(): Readonly<Record<string, string>> {
    const { after, sinceSeconds } = this.#options.selection;
    if (after !== undefined) return { sinceTime: wholeSecond(after) };
    return sinceSeconds === undefined ? {} : { sinceSeconds: String(sinceSeconds) };
  }

  /** Current pods; learns the secrets of new ones. */
  async #pods(): Promise<readonly Pod[]> {
    const { clock, environment, target } = this.#options;
    const pods = await podsOf(this.#options, environment, target);
    for (const pod of await this.#secrets.learn(pods)) {
      const isWithheld = logSources([pod]).length > 0;
      if (isWithheld) void this.#mailbox.put({ ...unmaskableNote(pod, clock), key: pod.metadata.uid });
    }
    return pods;
  }

  #readable(sources: readonly LogSource[]): readonly LogSource[] {
    return sources.filter(({ pod }) => !this.#secrets.isUnmaskable(pod));
  }

  /** Opens streams for unread sources. */
  async #check(): Promise<void> {
    this.#dueMs = this.#options.clock.monotonicMs() + LOOK_MS;
    try {
      for (const source of this.#readable(logSources(await this.#pods()))) {
        const isNew = source.run > (this.#ended.get(source.key) ?? -1) && !this.#open.has(source.key);
        if (isNew && this.#open.size < MOST_OPEN) this.#open.set(source.key, this.#pump(source));
      }
    } catch (error) {
      // Open streams go on meanwhile.
      if (!isUnavailable(error)) throw error;
    }
  }

  async #pump(source: LogSource): Promise<void> {
    try {
      await this.#read(source);
      this.#finished(source);
      this.#dueMs = Math.min(this.#dueMs, this.#options.clock.monotonicMs() + LOOK_AGAIN_MS);
    } catch (error) {
      // Unreadable or cut off: the next check finds the rest.
      if (isInvalid(error) || isNotFound(error)) this.#finished(source);
    } finally {
      this.#open.delete(source.key);
      this.#mailbox.ring();
    }
  }

  async #read(source: LogSource): Promise<void> {
    const { path, query } = logOf(source);
    const known = this.#moments.get(source.key) ?? "";
    const from = { ...query, ...this.#from(source), follow: "true" };
    for await (const line of this.#options.client.lines(path, from, { signal: this.#ending.signal })) {
      const stamped = stampedLine(line);
      // The kubelet begins with the whole second of a moment.
      if (stamped === undefined || stamped.at <= known) continue;
      this.#moments.set(source.key, stamped.at);
      await this.#mailbox.put({ ...stamped, key: source.key });
      if (this.#ending.signal.aborted) return;
    }
  }

  /** A running container's log may have more: the next check finds it. */
  #finished({ key, run, isRunning }: LogSource): void {
    if (!isRunning) this.#ended.set(key, run);
  }

  /** Reads from the last line; without one, the requested amount of the initial run, and all of later ones. */
  #from({ key, run }: LogSource): Readonly<Record<string, string>> {
    const moment = this.#moments.get(key);
    if (moment !== undefined) return { sinceTime: wholeSecond(moment) };
    if (this.#firstRuns.get(key) !== run) return {};
    return { ...this.#start(), tailLines: String(this.#options.selection.lines) };
  }

  async #gathered(): Promise<readonly FollowedLine[]> {
    const first = this.#mailbox.take();
    if (first.length === 0) return [];
    await pause(this.#options.clock, GATHER_MS, this.#ending.signal);
    return this.#delivered(inOrder([...first, ...this.#mailbox.take()]), [...this.#open.keys()]);
  }

  /** Masked lines with their positions; `goingOn` are containers that may write more. */
  async #delivered(lines: readonly SourcedLine[], goingOn: readonly string[]): Promise<readonly FollowedLine[]> {
    const positions = this.#positions.of(lines, goingOn);
    const masked = await maskedLines(lines, this.#secrets.mask);
    // One line may be the last of several: it covers their end.
    const ends = positions.slice(-masked.length);
    return masked.map((line, index) => ({ ...line, position: ends[index] ?? line.at }));
  }
}

/** The API server accepts no fractions of a second. */
const wholeSecond = (moment: string) => moment.replace(/\.\d+Z$/, "Z");

/** Clocks of nodes that are further apart than this are broken. */
const SKEW_MS = 10_000;

/** Positions from which a reader of several containers' logs may go on: one moment for all, although each node has its own clock. */
function podLogPositions() {
  /** Moment of the last delivered line by container, or after which the rest is to be delivered. */
  const delivered = new Map<string, string>();
  return {
    /** Notes that nothing of these containers after that moment has been delivered. */
    begin(containers: Iterable<string>, moment: string): void {
      for (const container of containers) delivered.set(container, moment);
    },

    /**
     * Moment for each of these lines, in order, after which the rest is: how far the last of the containers is that
     * go on. One that writes nothing holds the others back no further than clocks may differ. A line delivered twice is
     * no loss.
     */
    of: (lines: readonly SourcedLine[], goingOn: readonly string[]): readonly string[] =>
      lines.map(({ key, at }) => {
        delivered.set(key, at);
        const slowest = goingOn.map((container) => delivered.get(container) ?? "").reduce(earlier, at);
        return later(slowest, momentOf(new Date(Date.parse(at) - SKEW_MS)));
      }),
  };
}

const earlier = (one: string, other: string) => (other < one ? other : one);
const later = (one: string, other: string) => (other > one ? other : one);

/** Secrets of the pods that one reader follows: pods come and go, and values that one of them saw stay masked. */
function followedSecrets(client: KubeClient, masks: SecretMasks) {
  const [known, unmaskable, values] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let mask = masks.of([]);
  /** True when a pod's secrets are unreadable, so that its log must not be shown. */
  const isUnmaskable = ({ metadata }: Pod) => unmaskable.has(metadata.uid);
  return {
    get mask(): Mask {
      return mask;
    },

    isUnmaskable,

    /** Reads the secrets of new pods. @returns those that can't be masked */
    async learn(pods: readonly Pod[]): Promise<readonly Pod[]> {
      const added = pods.filter(({ metadata }) => !known.has(metadata.uid));
      const seen = await maskFor(client, added);
      const before = values.size;
      for (const value of seen.values) values.add(value);
      if (values.size > before) mask = masks.of(values);
      for (const { metadata } of added) known.add(metadata.uid);
      for (const uid of seen.unmaskable) unmaskable.add(uid);
      return added.filter(isUnmaskable);
    },
  };
}

/** Fill level at which a writer waits. */
const FULL_CHARACTERS = 256 * 1024;

/** Mailbox for the lines of many containers, for one reader. */
class PodLogMailbox {
  #lines: SourcedLine[] = [];
  #characters = 0;
  #alarm = new AbortController();
  #room = Promise.withResolvers<void>();

  /** Resolves when there is space for more. */
  put(line: SourcedLine): Promise<void> | undefined {
    this.#lines.push(line);
    this.#characters += line.text.length;
    this.ring();
    return this.#characters < FULL_CHARACTERS ? undefined : this.#room.promise;
  }

  ring(): void {
    this.#alarm.abort();
  }

  /** Resolves on a line, on `ring`, or after `forMs`. */
  async wait(clock: Clock, forMs: number): Promise<void> {
    if (this.#lines.length === 0) await pause(clock, forMs, this.#alarm.signal);
    this.#alarm = new AbortController();
  }

  take(): readonly SourcedLine[] {
    const taken = this.#lines;
    this.#lines = [];
    this.#characters = 0;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return taken;
  }
}

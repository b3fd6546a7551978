import { afterEach, beforeEach } from "@jest/globals";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import { createReflector, type Reflector } from "../../../../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import type { Log } from "../../../../../operator/kit/log.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  type SeenRequest,
  Stream,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { type ConfigMap, configMap, configMapList, configMaps } from "../../../../support/fixtures/config-maps.ts";
import { type LogLine, recordedLog } from "../../../../support/fixtures/recorded-log.ts";
import { until } from "../../../../support/fixtures/until.ts";

/** The server's lists: as the beginning of a watch, or, when it refuses that, page by page. */
type Way = "streamed" | "in pages";

/** True for a list as the beginning of a watch. */
export const isStreamedList = ({ query }: SeenRequest) => query.get("sendInitialEvents") === "true";
export const isPage = ({ query }: SeenRequest) => query.get("watch") !== "true";
export const isWatch = (request: SeenRequest) => !isStreamedList(request) && !isPage(request);

/** More than the longest pause of the backoff, and less than any deadline. */
const LONGEST_PAUSE_MS = 6_000;

export const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
/** The bookmark after a watch's initial events. */
export const endOfAll = (resourceVersion: string) => {
  const annotations = { "k8s.io/initial-events-end": "true" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion, annotations } };
};

/** Both ways, for suites that hold for either. */
export const WAYS: readonly Way[] = ["streamed", "in pages"];

/** A reflector of ConfigMaps on a fake API server, new for each test, with its lists' and watches' answers. */
export function reflectedCollection() {
  let server: FakeApiServer;
  let clock: TestClock;
  let client: KubeClient;
  let cache: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>;
  let reflector: Reflector;
  let changes: string[];
  let log: Log;
  let logged: readonly LogLine[];
  let way: Way;
  /** The answer of lists, once `started`. */
  let listAnswer: Answer;

  beforeEach(async () => {
    server = await startFakeApiServer();
    clock = new TestClock();
    client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
    cache = createObjectCache<ConfigMap>({ clock });
    changes = [];
    cache.subscribe((key, current, previous) => {
      const version = (object: ConfigMap | undefined) => object?.metadata.resourceVersion ?? "none";
      changes.push(`${key}: ${version(previous)} -> ${version(current)}`);
    });
    ({ log, lines: logged } = recordedLog());
    reflector = createReflector({ client, type: configMaps, cache, log, clock, random: () => 0 });
  });

  afterEach(async () => {
    await reflector.stop();
    await client.close();
    await server.close();
  });

  const watches = () => server.seen.filter(isWatch);
  /** Reasons of all lists. */
  const reasons = () => logged.filter(({ message }) => message === "a list begins").map(({ reason }) => reason);
  const failures = () => logged.filter(({ message }) => /^a (list|watch) failed$/.test(message)).length;
  const ignored = () => logged.filter(({ message }) => message === "an event was ignored").length;
  const versionOf = (name: string) => cache.get(`ns/${name}`)?.metadata.resourceVersion;

  /** Advances only over pauses of the backoff, until the condition holds. */
  async function untilAfterPauses(condition: () => boolean): Promise<void> {
    await until(() => {
      if (condition()) return true;
      const [shortest] = clock.pending;
      if (shortest !== undefined && shortest <= LONGEST_PAUSE_MS && clock.pending.length === 1) clock.advanceToNext();
      return condition();
    });
  }

  /** True when bytes have come since the last advance of the clock. */
  const hasProgressed = () => reflector.status().lastProgressAt === clock.monotonicMs();

  function listsCome(given: Way): void {
    beforeEach(() => {
      way = given;
      if (way === "in pages") server.on(isStreamedList, status(422, "Invalid"));
    });
  }

  const isList = (request: SeenRequest) => (way === "streamed" ? isStreamedList(request) : isPage(request));
  const lists = () => server.seen.filter(isList);

  /** Starts on a list of one object at version 1, with a watch that the test feeds. */
  async function started(...watchAnswers: readonly Answer[]): Promise<Stream> {
    const stream = new Stream();
    replaceList([configMap("a", "1")], "1");
    server.on(isList, (request, response) => listAnswer(request, response));
    server.on(isWatch, stream.answer, ...watchAnswers);
    reflector.start();
    await until(() => stream.isOpen, { what: "the first watch" });
    return stream;
  }

  function replaceList(items: readonly ConfigMap[], version: string): void {
    listAnswer = listed(items, version);
  }

  function failLists(): void {
    listAnswer = status(500, "InternalError");
  }

  function listed(items: readonly ConfigMap[], version: string): Answer {
    if (way === "in pages") return json(configMapList(items, version));
    return (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(items.map((item) => line("ADDED", item)).join("") + line("BOOKMARK", endOfAll(version)));
    };
  }

  return {
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    get client() {
      return client;
    },
    get cache() {
      return cache;
    },
    get reflector() {
      return reflector;
    },
    set reflector(value) {
      reflector = value;
    },
    get changes() {
      return changes;
    },
    get log() {
      return log;
    },
    get listAnswer() {
      return listAnswer;
    },
    set listAnswer(value) {
      listAnswer = value;
    },
    watches,
    reasons,
    failures,
    ignored,
    versionOf,
    untilAfterPauses,
    hasProgressed,
    listsCome,
    isList,
    lists,
    started,
    replaceList,
    failLists,
    listed,
  };
}

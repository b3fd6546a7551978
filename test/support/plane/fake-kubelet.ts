import type { ServerResponse } from "node:http";
import { type Answer, type FakeApiServer, json, type SeenRequest, status } from "../doubles/fake-api-server.ts";

/** A container of a pod, and the output of its runs; the last run is the current one. */
export interface FakeContainer {
  readonly name: string;
  readonly isInit?: boolean;
  readonly runs: FakeRun[];
  /** True while the last run lasts; without a run, the container waits to be started. */
  isRunning: boolean;
}

interface FakeRun {
  readonly lines: FakeLine[];
}

export interface FakeLine {
  readonly at: Date | string;
  readonly text: string;
}

export interface FakePod {
  readonly namespace: string;
  readonly name: string;
  readonly component: string;
  /** Replaces the label of the component. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The controlling owner. */
  readonly owner?: { readonly kind: string; readonly name: string };
  readonly containers: FakeContainer[];
  /** The Secrets of its containers. */
  readonly secrets?: readonly string[];
}

let count = 0;
/** A line with a unique moment, by its nanoseconds. */
export function lineAt({ at, text }: FakeLine): FakeLine {
  count += 1;
  const moment = typeof at === "string" ? at : at.toISOString().replace("Z", `${String(count).padStart(6, "0")}Z`);
  return { at: moment, text };
}

interface Follower {
  readonly response: ServerResponse;
  readonly run: FakeRun;
}

/**
 * Pods and their logs behind a fake API server: it answers as a kubelet does, `tailLines`, `sinceTime`, `limitBytes`,
 * `previous` and `follow` included.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
 */
export class FakeKubelet {
  readonly pods: FakePod[] = [];
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();
  /** Names of unreadable Secrets; one makes lists fail. */
  readonly withheld = new Set<string>();
  /** Answers log requests of a container in the kubelet's place. */
  readonly broken = new Map<string, Answer>();
  readonly #followers = new Set<Follower>();

  constructor(server: FakeApiServer) {
    server.on(
      ({ path }) => path.endsWith("/pods"),
      (request, response) => this.#list(request, response),
    );
    server.on(
      ({ path }) => /\/pods\/[^/]+\/log$/.test(path),
      (request, response) => this.#log(request, response),
    );
    server.on(
      ({ path }) => path.endsWith("/secrets"),
      (request, response) => this.#secrets(request, response),
    );
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Writes a line of the container's last run. */
  write({ runs }: FakeContainer, line: FakeLine): void {
    const run = runs.at(-1);
    const written = lineAt(line);
    run?.lines.push(written);
    for (const follower of this.#followers) if (follower.run === run) follower.response.write(stamped(written));
  }

  /** Ends the container's last run and begins another. */
  restart(container: FakeContainer): void {
    const ended = container.runs.at(-1);
    container.runs.push({ lines: [] });
    for (const { run, response } of this.#followers) if (run === ended) response.end();
  }

  /** Cuts every stream, as a restarted kubelet. */
  cut(): void {
    for (const { response } of this.#followers) response.socket?.resetAndDestroy();
  }

  #list(request: SeenRequest, response: ServerResponse): void {
    const namespace = request.path.split("/").at(-2);
    const pods = this.pods.filter((pod) => pod.namespace === namespace);
    json({ metadata: { resourceVersion: "1" }, items: pods.map(podObject) })(request, response);
  }

  #secrets(request: SeenRequest, response: ServerResponse): void {
    const items = [...this.secrets].map(([name, values]) => {
      const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
      return { metadata: { name }, data: Object.fromEntries(data) };
    });
    const there = json({ metadata: { resourceVersion: "1" }, items });
    const answer = this.withheld.size > 0 ? status(403, "Forbidden") : there;
    answer(request, response);
  }

  #log(request: SeenRequest, response: ServerResponse): void {
    const [namespace, , name] = request.path.split("/").slice(-4);
    const pod = this.pods.find((one) => one.namespace === namespace && one.name === name);
    const container = pod?.containers.find((one) => one.name === request.query.get("container"));
    const run = container?.runs.at(request.query.get("previous") === "true" ? -2 : -1);
    const broken = this.broken.get(container?.name ?? "");
    const answer = broken ?? (run === undefined ? status(400, "BadRequest") : this.#served(run));
    answer(request, response);
  }

  #served(run: FakeRun): Answer {
    return ({ query }, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write(answered(run.lines, query));
      const goesOn = this.pods.some(({ containers }) =>
        containers.some(({ isRunning, runs }) => isRunning && runs.at(-1) === run),
      );
      if (query.get("follow") !== "true" || !goesOn) {
        response.end();
        return;
      }
      const follower = { response, run };
      this.#followers.add(follower);
      response.on("close", () => this.#followers.delete(follower));
    };
  }
}

/** The kubelet seeks the first requested line from the end, and counts bytes from there. */
function answered(lines: readonly FakeLine[], query: URLSearchParams): Buffer {
  const tail = Number(query.get("tailLines") ?? lines.length);
  const seconds = query.get("sinceSeconds");
  const sinceMs =
    seconds === null ? Date.parse(query.get("sinceTime") ?? "1970-01-01") : Date.now() - 1000 * Number(seconds);
  const selected = lines.slice(Math.max(0, lines.length - tail)).filter(({ at }) => new Date(at).getTime() >= sinceMs);
  const limit = Number(query.get("limitBytes") ?? Number.POSITIVE_INFINITY);
  return Buffer.from(selected.map(stamped).join("")).subarray(0, limit);
}

function stamped({ at, text }: FakeLine): string {
  return `${typeof at === "string" ? at : at.toISOString()} ${text}\n`;
}

function podObject({ namespace, name, containers, secrets = [], owner, ...pod }: FakePod): object {
  const { component, labels = { "app.kubernetes.io/component": component } } = pod;
  const statuses = (areInit: boolean) =>
    containers.filter(({ isInit = false }) => isInit === areInit).map(containerStatus);
  return {
    metadata: {
      namespace,
      name,
      uid: `uid-${namespace}-${name}`,
      resourceVersion: "1",
      labels,
      ...(owner === undefined ? {} : { ownerReferences: [{ ...owner, uid: `uid-${owner.kind}-${owner.name}` }] }),
    },
    spec: { containers: [{ name: "main", envFrom: secrets.map((secret) => ({ secretRef: { name: secret } })) }] },
    status: { initContainerStatuses: statuses(true), containerStatuses: statuses(false) },
  };
}

function containerStatus({ name, runs, isRunning }: FakeContainer): object {
  const hasRunBefore = runs.length > (isRunning ? 1 : 0);
  return {
    name,
    ready: isRunning,
    restartCount: Math.max(0, runs.length - 1),
    state: isRunning ? { running: {} } : { waiting: { reason: "CrashLoopBackOff" } },
    ...(hasRunBefore ? { lastState: { terminated: { exitCode: 1 } } } : {}),
  };
}

import { findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment, Phase } from "../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import { isAsleep } from "../../crds/environment/sleep.ts";
import { present } from "../../crds/present.ts";

/** A part of waking, for people. */
export interface WakeStep {
  readonly title: string;
  readonly state: "done" | "active" | "failed";
}

/** State of an environment whose host no Ingress of its own answers. */
export interface HostState {
  /**
   * `asleep`: a request may wake it. `waking`: it will answer soon; also an awake one, whose Ingress the ingress
   * controller has yet to read. `suspended`: only a person wakes it. `starting`: its first creation goes on.
   */
  readonly kind: "asleep" | "waking" | "suspended" | "starting" | "failed";
  readonly steps: readonly WakeStep[];
  /** True while its database does not answer: its components may, and would fail. */
  readonly awaitsDatabase: boolean;
  /** Reason of a failure. */
  readonly problem?: string | undefined;
}

/** State of a host's environment; `undefined` for a host that is none of its own, and while it is being deleted. */
export function hostState(environment: EphemeralEnvironment, host: string): HostState | undefined {
  const phase = shownPhase(environment);
  if (phase === "terminating" || !hostsOf(environment).includes(host)) return undefined;
  const kind = kindOf(environment, phase);
  const steps = STEPS.flatMap((step) => stepOf(environment, step));
  const awaitsDatabase = steps.some(({ title, state }) => title === "Database" && state !== "done");
  return {
    kind,
    steps,
    awaitsDatabase,
    ...present({ problem: kind === "failed" ? problemOf(environment) : undefined }),
  };
}

function kindOf(environment: EphemeralEnvironment, phase: Phase): HostState["kind"] {
  if (environment.spec.suspended) return "suspended";
  if (isAsleep(environment)) return "asleep";
  if (phase === "failed") return "failed";
  return environment.status?.readyAt === undefined ? "starting" : "waking";
}

/** Hosts of an environment, without port. */
function hostsOf({ status }: EphemeralEnvironment): string[] {
  const { backend, frontend, hosts = {} } = status?.urls ?? {};
  const urls = [backend, frontend, ...Object.values(hosts)].filter((url) => url !== undefined);
  return urls.filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname);
}

const STEPS = [
  { title: "Database", condition: "DatabaseReady" },
  { title: "Application", condition: "ApplicationSynced" },
  { title: "Addresses", condition: "UrlsReady" },
] as const;

function stepOf({ status }: EphemeralEnvironment, { title, condition }: (typeof STEPS)[number]): WakeStep[] {
  const found = findCondition(status?.conditions, condition);
  if (found === undefined || found.reason === "NotRequested") return [];
  if (found.status === "False") return [{ title, state: "failed" }];
  const isDone = found.status === "True" && found.reason !== "Suspended";
  return [{ title, state: isDone ? "done" : "active" }];
}

function problemOf({ status }: EphemeralEnvironment): string | undefined {
  return findCondition(status?.conditions, "Ready")?.message;
}

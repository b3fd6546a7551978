import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { repositoryType } from "../../../../operator/adapters/kubernetes/kinds.ts";
import type { HostedPullRequest } from "../../../../operator/ports/webhooks/pull-request-host.ts";
import { until } from "../../fixtures/until.ts";
import { COMMIT } from "../../worlds/environment-world.ts";
import { isReady, type Part, READY } from "../fault-lifecycles.ts";
import type { FaultWorld } from "../fault-world.ts";
import type { Violation } from "../world-observer.ts";
import { PULL_REQUEST, repositoryOf } from "./audience.ts";
import { type Outbox, type Reports, reportsOf } from "./reports.ts";

/** Number of reads of a host before its answers count as ineffective. */
const QUESTIONS = 2;

/** The life of an environment without its pull request's webhooks: the host is read. And a hook paused by its host. */
export function missedParts(world: FaultWorld, outbox: Outbox): Part[] {
  const { observer, audience } = world;
  const reports = reportsOf(world, outbox);
  const registered = async (name: string) => {
    await audience.register(name);
    await until(() => reports.ofHook(name).length === 0, { what: `the hook of '${name}' being known`, ...READY });
  };
  const opened = async (name: string) => {
    await registered(name);
    host(world, name, { state: "open" });
    const isOpened = () =>
      isReady(observer.environment(name)) && reports.ofLiving(name, ["created", "ready"]).length === 0;
    await until(isOpened, { what: `'${name}' being ready, and reported`, ...READY });
  };
  const slack = 12;
  return [
    {
      name: "opening is missed",
      slack,
      given: registered,
      act: async (name) => host(world, name, { state: "open" }),
      reported: (name) => [...reports.ofLiving(name, ["created", "ready"]), ...reports.ofHook(name)],
    },
    {
      name: "closing is missed",
      slack,
      leaves: true,
      given: opened,
      async act(name) {
        observer.mayGo(observer.environment(name) as EphemeralEnvironment);
        host(world, name, { state: "closed" });
      },
      reported: (name) => [...reports.ofGone(name, ["created", "ready", "deleted"]), ...reports.ofHook(name)],
    },
    { ...forgotten(world, outbox, reports), slack, given: opened },
    {
      name: "hook is paused",
      slack,
      given: opened,
      act: (name) => pause(world, name),
      reported: (name) => [...reports.ofLiving(name, ["created", "ready", "webhook"]), ...reports.ofHook(name)],
    },
  ];
}

/** The host has lost its pull requests: lists are empty, reads find none. The environment stays. */
function forgotten({ audience }: FaultWorld, outbox: Outbox, reports: Reports): Part {
  const since = new Map<string, number>();
  const unasked = (environment: string): Violation[] => {
    const times = audience.hostOf(environment).listed - (since.get(environment) ?? 0);
    const what = `since its host has lost it, it was asked ${times} times`;
    return times >= QUESTIONS ? [] : [{ invariant: "I1", environment, what }];
  };
  const acted = (environment: string): Violation[] => {
    const deliveries = outbox.deliveriesOf(environment).length;
    const what = `${deliveries} deliveries are stored, one is of its opening`;
    return deliveries === 1 ? [] : [{ invariant: "I5", environment, what }];
  };
  return {
    name: "host loses its pull requests",
    async act(name) {
      const remembered = audience.hostOf(name);
      remembered.pulls.clear();
      since.set(name, remembered.listed);
    },
    reported: (name) => [...reports.ofLiving(name, ["created", "ready"]), ...unasked(name), ...acted(name)],
  };
}

function host({ audience, clock }: FaultWorld, environment: string, { state }: Pick<HostedPullRequest, "state">): void {
  audience.hostOf(environment).pulls.set(PULL_REQUEST, {
    number: PULL_REQUEST,
    state,
    merged: false,
    draft: false,
    labels: [],
    isFork: false,
    baseRef: "main",
    headRef: repositoryOf(environment),
    headCommit: COMMIT,
    updatedAt: clock.now().toISOString(),
  });
}

/** The host pauses the hook, and a person requests a check of the Repository. */
async function pause({ audience, asClient, world }: FaultWorld, environment: string): Promise<void> {
  const { hooks } = audience.hostOf(environment);
  hooks.splice(0, hooks.length, ...hooks.map((hook) => ({ ...hook, state: "paused" as const })));
  const ref = { name: repositoryOf(environment), namespace: "ephemeral-system" };
  await asClient(environment, async ({ repositoryReloads }) => {
    const found = await world.admin.find(repositoryType, ref);
    if (found !== undefined) await repositoryReloads.request(found);
  });
}

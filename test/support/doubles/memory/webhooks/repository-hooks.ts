import { PullRequestHostFailed } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import type {
  DesiredHook,
  LastDelivery,
  RepositoryHook,
  RepositoryHooks,
} from "../../../../../operator/ports/webhooks/repository-hooks.ts";

export interface MemoryRepositoryHooks extends RepositoryHooks {
  readonly all: RepositoryHook[];
  /** Hooks that were resumed. */
  readonly resumed: string[];
  /** The last argument of `put`. */
  readonly desired: DesiredHook | undefined;
  readonly requested: number;
  /** Sets the last delivery of every hook. */
  delivered(delivery: LastDelivery | undefined): void;
  fail(failure: PullRequestHostFailed | undefined): void;
}

/** The hooks of one repository, without a host; fulfils `repositoryHooksSuite`. */
export function memoryRepositoryHooks(): MemoryRepositoryHooks {
  const all: RepositoryHook[] = [];
  const resumed: string[] = [];
  let last: LastDelivery | undefined;
  let failure: PullRequestHostFailed | undefined;
  let desired: DesiredHook | undefined;
  let requests = 0;
  let ids = 0;
  const reached = () => {
    if (failure !== undefined) throw failure;
  };
  const replace = (at: number, count: number, ...hooks: RepositoryHook[]) => all.splice(at, count, ...hooks);
  return {
    all,
    resumed,
    get desired() {
      return desired;
    },
    get requested() {
      return requests;
    },
    delivered: (delivery) => {
      last = delivery;
    },
    fail: (given) => {
      failure = given;
    },
    async list() {
      requests += 1;
      reached();
      return [...all];
    },
    async lastDelivery() {
      reached();
      return last;
    },
    async put(_repository, given) {
      reached();
      desired = given;
      const others = all.filter(({ url }) => url !== given.address);
      ids += 1;
      const made = { id: String(ids), url: given.address, events: ["push"], state: "active", faults: [] } as const;
      replace(0, all.length, ...others, made);
    },
    neededRight: () => "the scope write:repository",
    async resume(_repository, hook) {
      reached();
      const at = all.findIndex(({ id }) => id === hook);
      const found = all[at];
      if (found === undefined) throw new PullRequestHostFailed("no such hook", { status: 404 });
      resumed.push(hook);
      replace(at, 1, { ...found, state: "active" });
    },
  };
}

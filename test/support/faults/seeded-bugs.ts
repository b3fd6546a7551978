/** Classic operator bugs, injected through ports and requests. */
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeObject } from "../../../operator/kit/client/objects.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { changedLists } from "./watch-interceptors.ts";

/** Changes the ports that the operator is given. */
export type Ports = (context: ControllerDependencies) => ControllerDependencies;

/** The port with some methods replaced. An unknown method is a type error. */
function overriding<P extends object>(port: P, methods: Partial<P>): P {
  return Object.assign(Object.create(port), methods);
}

/** Every reconcile creates values again. */
export const forgetfulManager: Ports = ({ secretManager, ...context }) => ({
  ...context,
  secretManager: overriding(secretManager, {
    async ensure(...[owner, requests]: Parameters<typeof secretManager.ensure>) {
      await secretManager.remove(owner, []);
      const again = requests.map((request) => ({
        generate: () => new Sensitive(`value-${Math.random()}`),
        ...request,
      }));
      return secretManager.ensure(owner, again);
    },
  }),
});

/** The finalizer is written after the namespace exists. */
export const lateFinalizer: Ports = ({ statusWriter: real, cluster, ...context }) => {
  const without = new Map<string, EphemeralEnvironment>();
  return {
    ...context,
    statusWriter: overriding(real, {
      async addFinalizer(environment) {
        without.set(environment.metadata.name, environment);
        return environment;
      },
    }),
    cluster: overriding(cluster, {
      async ensure(...[owner, kind, object]: Parameters<typeof cluster.ensure>) {
        const outcome = await cluster.ensure(owner, kind, object);
        const environment = without.get(owner.name);
        if (environment !== undefined && kind.kind === namespaceKind.kind) await real.addFinalizer(environment);
        return outcome;
      },
    }),
  };
};

/** A namespace in deletion counts as gone. */
export const earlyRelease: Ports = ({ cluster, ...context }) => ({
  ...context,
  cluster: overriding(cluster, {
    async remove(...[owner, kind, ref]: Parameters<typeof cluster.remove>) {
      const removal = await cluster.remove(owner, kind, ref);
      return kind.kind === namespaceKind.kind ? { state: "gone" } : removal;
    },
  }),
});

/** Deletes name their object, without preconditions. */
export const deleteByName: RequestInterceptor = (request, next) => {
  if (request.verb === "delete") delete (request.body as { preconditions?: object }).preconditions;
  return next();
};

/** The TTL runs from the process's first sight of the environment. */
export const expiryInMemory: Ports = ({ environment, ...context }) => {
  const firstSeen = new Map<string, string>();
  return {
    ...context,
    environment(name) {
      const seen = environment(name);
      if (seen === undefined) return undefined;
      const creationTimestamp = firstSeen.get(seen.metadata.uid) ?? new Date().toISOString();
      firstSeen.set(seen.metadata.uid, creationTimestamp);
      return { ...seen, metadata: { ...seen.metadata, creationTimestamp } };
    },
  };
};

/** A failed write of a status counts as written. */
export const swallowedStatusError: Ports = ({ statusWriter: real, ...context }) => ({
  ...context,
  statusWriter: overriding(real, {
    writeStatus: (...[environment, status]: Parameters<typeof real.writeStatus>) =>
      real.writeStatus(environment, status).catch(() => environment),
  }),
});

/** Objects missing from a new list stay, as if the cache never compared. */
export function keepWhatListsLack(): RequestInterceptor {
  const before = new Map<string, readonly KubeObject[]>();
  return changedLists((collection, { items, resourceVersion }) => {
    const known = new Set(items.map(({ metadata }) => metadata.uid));
    const all = [...items, ...(before.get(collection) ?? []).filter(({ metadata }) => !known.has(metadata.uid))];
    before.set(collection, all);
    return { items: all, resourceVersion };
  });
}

/** The report to the host is stored without its comment. */
export const forgottenComment: Ports = ({ statusWriter: real, ...context }) => ({
  ...context,
  statusWriter: overriding(real, {
    writeStatus(...[environment, { feedback, ...status }]: Parameters<typeof real.writeStatus>) {
      const { comment: _, ...reported } = feedback ?? {};
      return real.writeStatus(environment, { ...status, ...(feedback === undefined ? {} : { feedback: reported }) });
    },
  }),
});

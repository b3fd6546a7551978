import type { Sensitive } from "../../../crds/sensitive.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import type { RepositoryFile } from "../../../operator/ports/repository-host.ts";
import type { HostedRepository } from "../../../operator/ports/webhooks/pull-request-host.ts";
import { environmentOf, environmentOfChat } from "./pull-requests/audience.ts";

export interface PortCall {
  readonly port: string;
  readonly method: string;
  /** The environment in its arguments, or `undefined`. */
  readonly about: string | undefined;
}

/** Wraps a port's call: `next()` makes it; throwing before it skips the call, throwing after it loses the answer. */
export type AroundCall = (call: PortCall, next: () => Promise<unknown>) => Promise<unknown>;

type About = (first: unknown, second: unknown) => string | undefined;

const owner: About = (first) => (first as { name: string }).name;
const application: About = (first) => (first as { environment: { name: string } }).environment.name;
const noEnvironment: About = () => undefined;
/** The host of an environment's URL begins with its name. */
const host: About = (first) => /^https:\/\/(.+?)(--[a-z0-9-]+)?\./.exec(String(first))?.[1];
/** Environments under test follow a branch of their own name. */
const branch: About = (_first, second) => String(second);

/** The path of a seed begins with the environment's name. */
const seedFile: About = (_first, second) => (second as RepositoryFile).path.split("/")[0];

/** A Repository of only one environment, and its pull credential, are named after it. */
const credential: About = (id) => String(id);

/** Every repository has one pull request. */
const pullRequest: About = (first) => environmentOf((first as HostedRepository).fullName.split("/")[1] ?? "");
const channel: About = (url) => environmentOfChat((url as Sensitive).reveal());
/** The owner's address begins with the environment's name. */
const address: About = (message) => (message as { to: string }).to.split("@")[0];

/** The ports to other systems, or nodes. Writes to the Kubernetes API have their own interceptor. */
type Reaching = Pick<
  Required<ControllerDependencies>,
  | "secretManager"
  | "deployer"
  | "pods"
  | "workloadScaler"
  | "repositoryHost"
  | "repositoryFiles"
  | "prober"
  | "pullRequestHost"
  | "pullRequestReader"
  | "hooks"
  | "chat"
> & { readonly mail: NonNullable<ControllerDependencies["mail"]> };

/** Methods with remote calls; the others answer from watched state. */
type Asking<P> = {
  [M in keyof P]: P[M] extends (...args: never[]) => Promise<unknown> ? M : never;
}[keyof P];

/** The environment of each call. An unlisted method is a type error: it would meet no fault. */
const PORTS: { readonly [P in keyof Reaching]: { readonly [M in Asking<Reaching[P]>]: About } } = {
  secretManager: {
    ensure: owner,
    remove: owner,
    holdsAny: owner,
    shared: noEnvironment,
    read: credential,
    owners: noEnvironment,
    close: noEnvironment,
  },
  deployer: {
    ensureProject: owner,
    ensure: application,
    retry: application,
    replaceJobs: application,
    endSync: owner,
    remove: owner,
    abandon: owner,
    removeProject: owner,
  },
  pods: { diagnose: owner, lastOutput: owner, readiness: owner, commits: owner, running: owner },
  workloadScaler: { scaleFromZero: owner },
  repositoryHost: { head: branch },
  repositoryFiles: { file: seedFile },
  prober: { probe: host },
  pullRequestHost: { report: pullRequest, comment: pullRequest, deploy: pullRequest, retire: pullRequest },
  pullRequestReader: { openPullRequests: pullRequest, pullRequest, redeliver: pullRequest },
  hooks: { list: pullRequest, lastDelivery: pullRequest, put: pullRequest, resume: pullRequest },
  chat: { post: channel, close: noEnvironment },
  mail: { send: address },
};

type Method = (...args: unknown[]) => Promise<unknown>;

function aroundPort<P extends object>(name: keyof Reaching, port: P, around: AroundCall): P {
  const wrapped = Object.entries<About>(PORTS[name]).map(([method, about]) => {
    const call: Method = (...args) => {
      const next = () => (port[method as keyof P] as Method).apply(port, args);
      return around({ port: name, method, about: about(args[0], args[1]) }, next);
    };
    return [method, call];
  });
  return Object.assign(Object.create(port), Object.fromEntries(wrapped));
}

/** Puts the interceptor around every port that reaches another system, for `OperatorOptions.onPorts`. */
export function portInterceptor(around: AroundCall): (context: ControllerDependencies) => ControllerDependencies {
  return (context) => {
    const ports = Object.keys(PORTS) as (keyof Reaching)[];
    const wrapped = ports.flatMap((name) => {
      const port = context[name];
      return port === undefined ? [] : [[name, aroundPort<object>(name, port, around)]];
    });
    return { ...context, ...Object.fromEntries(wrapped) };
  };
}

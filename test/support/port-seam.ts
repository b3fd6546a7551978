import type { ReconcilerContext } from "../../operator/environment/reconciler.ts";

/** One call of a port's method. */
export interface PortCall {
  readonly port: string;
  readonly method: string;
  /** The environment that it is about; `undefined` when its arguments don't tell. */
  readonly about: string | undefined;
}

/** Stands around a port's call: `next()` makes it; throwing before or after it is a call not made or an answer lost. */
export type AroundCall = (call: PortCall, next: () => Promise<unknown>) => Promise<unknown>;

type About = (first: unknown, second: unknown) => string | undefined;

const owner: About = (first) => (first as { name: string }).name;
/** The host of an environment's URL begins with its name. */
const host: About = (first) => /^https:\/\/(.+?)(--api)?\./.exec(String(first))?.[1];
/** Environments under test follow a branch of their own name. */
const branch: About = (_first, second) => String(second);

/** The ports that reach other systems, and whom each call is about. The Kubernetes API has a seam of its own. */
const PORTS: Readonly<Record<string, Readonly<Record<string, About>>>> = {
  secretManager: { ensure: owner, remove: owner, holdsAny: owner },
  deployer: {
    confine: owner,
    ensure: (first) => (first as { environment: { name: string } }).environment.name,
    remove: owner,
  },
  repositoryHost: { head: branch },
  prober: { probe: host },
};

type Method = (...args: unknown[]) => Promise<unknown>;

/** Stands around the named methods of a port; all else stays as it is. */
function aroundPort<P extends object>(name: string, port: P, around: AroundCall): P {
  const wrapped = Object.entries(PORTS[name] ?? {}).map(([method, about]) => {
    const call: Method = (...args) => {
      const next = () => (port[method as keyof P] as Method).apply(port, args);
      return around({ port: name, method, about: about(args[0], args[1]) }, next);
    };
    return [method, call];
  });
  return Object.assign(Object.create(port), Object.fromEntries(wrapped));
}

/** For `OperatorOptions.onPorts`: the same seam around every port that reaches another system. */
export function portSeam(around: AroundCall): (context: ReconcilerContext) => ReconcilerContext {
  return (context) => {
    const ports = Object.keys(PORTS) as (keyof ReconcilerContext)[];
    const wrapped = ports.map((name) => [name, aroundPort(name, context[name] as object, around)]);
    return { ...context, ...Object.fromEntries(wrapped) };
  };
}

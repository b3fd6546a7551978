import { digestOf } from "../../../crds/digest.ts";
import { namespaceName } from "../../../crds/names.ts";
import { secretKind } from "../../kit/client/kinds.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Cluster, ObservedObject, Owner, Removal } from "../../ports/cluster.ts";
import { DeployerUnavailable } from "../../ports/deployer.ts";
import { appProjectKind } from "./kinds.ts";
import { type ArgocdSettings, LOGIN, type Login, loginObject, loginPlace } from "./objects.ts";

/** A login that this process gave Argo CD. */
interface Given {
  /** `name@key` of the credential, and the place that it is for. */
  readonly about: string;
  /** The UID of the project that it went with. */
  readonly project: string;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** The logins at charts' places, one Secret an environment, which Argo CD reads and this process may only write. */
export interface ChartLogins {
  /** The login that the environment's project names: `name@key`, or empty when it had one; `undefined`: it never had one. */
  mark(environment: Owner): string | undefined;
  /** Writes the login. The project, marked with it, must be there. */
  give(environment: Owner, login: Login): Promise<void>;
  /** Removes the login; call again until `gone`. */
  take(environment: Owner): Promise<Removal>;
  /** Milliseconds since this process gave that login; infinite when it never did, or when the login may be gone since. */
  ageMs(environment: Owner, login: Omit<Login, "credential">): number;
  /** Forgets how old the login is. */
  forgetAge(environment: Owner): void;
  /** True when a login of other content was given since the last call. */
  isNews(environment: Owner): boolean;
}

export function createChartLogins(cluster: Cluster, settings: ArgocdSettings, clock: Clock): ChartLogins {
  const given = new Map<string, Given>();
  /** Of what was written last, by the UID of its environment. */
  const digests = new Map<string, string>();
  const news = new Set<string>();
  const ref = ({ name }: Owner) => ({ name: namespaceName(name), namespace: settings.namespace });
  const projectOf = (environment: Owner) => cluster.observe(environment, appProjectKind, ref(environment));
  const markOf = (project: ObservedObject | undefined) => project?.metadata.annotations?.[LOGIN];

  return {
    mark: (environment) => markOf(projectOf(environment)),

    async give(environment, login) {
      const project = projectOf(environment);
      if (project === undefined)
        throw new DeployerUnavailable(`AppProject '${ref(environment).name}' went away just now`);
      const { uid } = environment;
      const secret = loginObject(login, project);
      const digest = digestOf(secret.data);
      // A write that fails may have been carried out, or not.
      given.delete(uid);
      await cluster.overwrite(environment, secretKind, secret);
      if (digests.get(uid) !== digest) news.add(uid);
      digests.set(uid, digest);
      given.set(uid, {
        about: aboutOf(login),
        project: project.metadata.uid,
        atMs: clock.monotonicMs(),
      });
    },

    async take(environment) {
      given.delete(environment.uid);
      news.delete(environment.uid);
      digests.delete(environment.uid);
      return cluster.discard(environment, secretKind, ref(environment));
    },

    ageMs(environment, login) {
      const one = given.get(environment.uid);
      const project = projectOf(environment);
      const isThere = one?.project === project?.metadata.uid && markOf(project) === login.source;
      return one !== undefined && isThere && one.about === aboutOf(login) ? clock.monotonicMs() - one.atMs : Infinity;
    },

    forgetAge: ({ uid }) => void given.delete(uid),

    isNews: ({ uid }) => news.delete(uid),
  };
}

const aboutOf = ({ source, chart }: Omit<Login, "credential">) => `${source} ${loginPlace(chart)}`;

import { digestOf } from "../../../crds/digest.ts";
import { namespaceName } from "../../../crds/names.ts";
import { secretKind } from "../../kit/client/kinds.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Cluster, ObservedObject, Owner, Removal } from "../../ports/cluster.ts";
import { DeployerUnavailable } from "../../ports/deployer.ts";
import { appProjectKind } from "./kinds.ts";
import { type ArgocdSettings, LOGIN, type Login, loginObject, loginPlace } from "./objects.ts";

/** The login that this process wrote last for an environment. */
interface WrittenLogin {
  /** `name@key` of the credential, and the place that it is for. */
  readonly about: string;
  /** The UID of the project that it went with. */
  readonly project: string;
  readonly digest: string;
  /** Time of the write on the monotonic clock; `undefined` when the login may be gone since. */
  atMs: number | undefined;
  /** True when its content is new since the last call of `isChanged`. */
  isChanged: boolean;
}

/** The logins at charts' places, one Secret an environment, which Argo CD reads and this process may only write. */
export function createChartLogins(cluster: Cluster, settings: ArgocdSettings, clock: Clock) {
  const logins = new Map<string, WrittenLogin>();
  const ref = ({ name }: Owner) => ({ name: namespaceName(name), namespace: settings.namespace });
  const projectOf = (environment: Owner) => cluster.observe(environment, appProjectKind, ref(environment));
  const markOf = (project: ObservedObject | undefined) => project?.metadata.annotations?.[LOGIN];
  const forgetAge = ({ uid }: Owner) => {
    const login = logins.get(uid);
    if (login !== undefined) login.atMs = undefined;
  };

  return {
    /** The login that the environment's project names: `name@key`, or empty when it had one; `undefined`: it never had one. */
    mark: (environment: Owner) => markOf(projectOf(environment)),

    /** Writes the login. The project, marked with it, must be there. */
    async give(environment: Owner, login: Login): Promise<void> {
      const project = projectOf(environment);
      if (project === undefined)
        throw new DeployerUnavailable(`AppProject '${ref(environment).name}' went away just now`);
      const secret = loginObject(login, project);
      const digest = digestOf(secret.data);
      // A write that fails may have been carried out, or not.
      forgetAge(environment);
      await cluster.overwrite(environment, secretKind, secret);
      const former = logins.get(environment.uid);
      logins.set(environment.uid, {
        about: aboutOf(login),
        project: project.metadata.uid,
        digest,
        atMs: clock.monotonicMs(),
        isChanged: former?.isChanged === true || former?.digest !== digest,
      });
    },

    /** Removes the login; call again until `gone`. */
    async take(environment: Owner): Promise<Removal> {
      logins.delete(environment.uid);
      return cluster.discard(environment, secretKind, ref(environment));
    },

    /** Milliseconds since this process gave that login; infinite when it never did, or when the login may be gone since. */
    ageMs(environment: Owner, login: Omit<Login, "credential">): number {
      const { about, project: uid, atMs } = logins.get(environment.uid) ?? {};
      const project = projectOf(environment);
      const isThere = uid === project?.metadata.uid && markOf(project) === login.source;
      return atMs !== undefined && isThere && about === aboutOf(login) ? clock.monotonicMs() - atMs : Infinity;
    },

    forgetAge,

    /** True when a login of other content was given since the last call. */
    isChanged({ uid }: Owner): boolean {
      const login = logins.get(uid);
      const isChanged = login?.isChanged === true;
      if (login !== undefined) login.isChanged = false;
      return isChanged;
    },
  };
}

const aboutOf = ({ source, chart }: Omit<Login, "credential">) => `${source} ${loginPlace(chart)}`;

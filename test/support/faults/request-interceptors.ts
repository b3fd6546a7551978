import { type EnvironmentRecord, recordKind } from "../../../crds/environment/environment-record.ts";
import { isWrite, type KubeRequest, type RequestSeam } from "../../../operator/kit/client/request.ts";

/** The environment of a request; `undefined` for others (watches, lists, the clock). */
export type Concerned = (request: KubeRequest) => string | undefined;

/** Finds a request's environment among the given ones by the names in its address; a record's is in its body. */
export function concernedAmong(names: Iterable<string>): Concerned {
  const known = [...names];
  return ({ type, name, namespace, body }) =>
    known.find(
      (candidate) =>
        (type?.kind === recordKind.kind && (body as EnvironmentRecord | undefined)?.spec?.name === candidate) ||
        name === candidate ||
        name === `env-${candidate}` ||
        namespace === `env-${candidate}` ||
        (namespace === "ephemeral-secrets" && name?.startsWith(`${candidate}-`)),
    );
}

/** A request without the specifics of its environment, such as `create Namespace env-NAME`. */
export function normalised({ verb, type, namespace, name = "", subresource }: KubeRequest, environment: string) {
  const kind = [type?.kind, subresource].filter(Boolean).join("/");
  if (type?.kind === recordKind.kind) return `${verb} ${kind} UID`;
  const general = name.replace(new RegExp(`^${environment}-[0-9a-f]{8}$`), "NAME-UID").replace(environment, "NAME");
  return `${verb} ${kind} ${namespace === "ephemeral-secrets" ? "store " : ""}${general}`;
}

/** Numbers equal entries: `patch X #1`, `patch X #2`. */
function numbering(): (entry: string) => string {
  const counts = new Map<string, number>();
  return (entry) => {
    const count = (counts.get(entry) ?? 0) + 1;
    counts.set(entry, count);
    return `${entry} #${count}`;
  };
}

/** Writes through an interceptor, by environment, in the order in which they were sent. */
export interface Recording {
  readonly interceptor: RequestSeam;
  writes(environment: string): readonly string[];
}

/** Records an operator's writes. */
export function recordWrites(concerned: Concerned): Recording {
  const sent = new Map<string, { number: (entry: string) => string; writes: string[] }>();
  const of = (environment: string) => {
    const known = sent.get(environment) ?? { number: numbering(), writes: [] };
    sent.set(environment, known);
    return known;
  };
  return {
    interceptor(request, next) {
      const environment = concerned(request);
      if (environment !== undefined && isWrite(request.verb)) {
        const { number, writes } = of(environment);
        writes.push(number(normalised(request, environment)));
      }
      return next();
    },
    writes: (environment) => of(environment).writes,
  };
}

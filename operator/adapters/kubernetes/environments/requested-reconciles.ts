import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION, reconcileToken } from "../../../../crds/group.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import type { Environments, RequestedReconcile } from "../../../ports/api/environments.ts";
import type { Store } from "../store.ts";
import { patchLatest } from "./changes.ts";

/** Requests within this time share one reconcile, so that a flood of them is one write. */
const SHARED_MS = 5_000;

type Context = Omit<Store<EphemeralEnvironment>, "namespace" | "deletions">;

/** Requests reconciles by a token on the resource, and waits for the answering status. */
export function requestedReconciles(context: Context): Environments["reconcile"] {
  const underWay = new Map<string, Promise<string>>();
  return async (environment, { withinMs }) => {
    const { uid } = environment.metadata;
    const asking = underWay.get(uid) ?? ask(context, environment).finally(() => underWay.delete(uid));
    underWay.set(uid, asking);
    return answerTo(await asking, environment, { ...context, withinMs });
  };
}

/** Shares a recent token on the resource, or writes a new one. */
async function ask(context: Context, environment: EphemeralEnvironment): Promise<string> {
  const { clock } = context;
  let token = "";
  await patchLatest(context, environment, (latest) => {
    const shared = sharedToken(latest, clock.now());
    token = shared ?? clock.now().toISOString();
    return shared === undefined ? { annotations: { [RECONCILE_ANNOTATION]: token } } : undefined;
  });
  return token;
}

/** Token of a recently requested reconcile, answered or not: further requests share it. */
export function sharedToken(environment: EphemeralEnvironment, now: Date): string | undefined {
  const token = reconcileToken(environment);
  // A handwritten token may hold no time, and is not shared.
  return token !== undefined && elapsedMs(new Date(token), now) < SHARED_MS ? token : undefined;
}

function answerTo(
  token: string,
  environment: EphemeralEnvironment,
  { cache, clock, withinMs }: Context & { readonly withinMs: number },
): Promise<RequestedReconcile> {
  const { name, uid } = environment.metadata;
  return new Promise((resolve) => {
    let latest = environment;
    const finish = (state: RequestedReconcile["state"]) => {
      cancel();
      unsubscribe();
      resolve({ state, environment: latest });
    };
    const look = (current: EphemeralEnvironment | undefined) => {
      if (current?.metadata.uid !== uid) return;
      latest = current;
      if (current.status?.lastHandledReconcileAt === token) finish("answered");
    };
    const unsubscribe = cache.subscribe((key, current, previous) => {
      if (key !== name) return;
      if (previous?.metadata.uid === uid && current?.metadata.uid !== uid) finish("gone");
      else look(current);
    });
    const cancel = clock.setTimer(withinMs, () => finish("pending"));
    look(cache.get(name));
  });
}

import { type Static, Type } from "typebox";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { closed, literals } from "../../../crds/schema.ts";
import type { EnvironmentChange } from "../../../operator/ports/api/environments.ts";
import { type Caller, visibleTo } from "../../auth/access.ts";
import { route, type ServerEvent } from "../../route.ts";
import { titled } from "../../schemas/fields.ts";
import type { Services } from "../../services.ts";
import { EnvironmentPath, EnvironmentReport, ListedReport } from "../schemas.ts";
import { reported, toListedReport } from "../views.ts";
import { visibleEnvironment } from "../visible-environment.ts";

/** An event of the list's stream. */
export const ChangedEnvironment = closed(
  {
    type: literals(["opened", "changed", "removed"], {
      description:
        "`opened` comes first: a list that is read from now on has all that changed before. `changed`: made or changed. `removed`: gone, or not visible any more.",
    }),
    id: Type.Optional(Type.String({ description: "The environment's id; not with `opened`." })),
    name: Type.Optional(Type.String({ description: "The environment's name; not with `opened`." })),
    environment: Type.Optional(ListedReport),
  },
  titled("ChangedEnvironment", {
    type: "removed",
    id: "3f0c2d4e-8f5a-4a39-9d0b-6a1f6c1f7f10",
    name: "shop-test",
  }),
);
export type ChangedEnvironment = Static<typeof ChangedEnvironment>;

const STREAMED =
  "A comment comes every 15 seconds. A client that reads slowly misses states in between. The stream ends when the caller's rights change, when the service stops, and after 30 minutes: a client reconnects then. Events have no positions: `Last-Event-ID` changes nothing.";

/** Streams the environment at first and at each change, until it is gone. */
export const followEnvironment = route({
  endpoint: "GET /api/environments/{environment_id}/stream",
  summary: "Follow an environment",
  description: `The environment as server-sent events: its current state, and each change of its status, its spec or its expiry. The stream ends when the environment is gone; a client that reconnects then is answered ENV_NOT_FOUND. The first event after a reconnection has the changes made meanwhile. ${STREAMED}`,
  access: { permission: "environments:read" },
  only: "v2",
  isStream: true,
  params: EnvironmentPath,
  reply: EnvironmentReport,
  errors: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, services) => {
  const { uid } = (await visibleEnvironment(params.environment_id, caller, services)).metadata;
  return async function* (signal): AsyncGenerator<ServerEvent<EnvironmentReport>[]> {
    for await (const environment of statesOf(uid, services, signal)) {
      if (!visibleTo(caller)(environment.spec)) return;
      yield [{ id: environment.metadata.resourceVersion, data: reported(environment, services) }];
    }
  };
});

async function* statesOf(
  uid: string,
  { environments }: Services,
  signal: AbortSignal,
): AsyncGenerator<EphemeralEnvironment> {
  const changes = environments.changes(signal);
  const found = await environments.find(uid);
  if (found === undefined) return;
  yield found;
  for await (const batch of changes) {
    const change = batch.find(({ id }) => id === uid);
    if (change === undefined) continue;
    if (change.current === undefined) return;
    yield change.current;
  }
}

/** Streams changes of the environments that the caller may see. */
export const followEnvironments = route({
  endpoint: "GET /api/watch/environments",
  summary: "Follow all environments",
  description: `Changes of the environments that are accessible to the current user, as server-sent events. A client that keeps a list reads it after \`opened\`, and again after each reconnection. ${STREAMED}`,
  access: { permission: "environments:read" },
  only: "v2",
  isStream: true,
  reply: ChangedEnvironment,
})(
  ({ caller }, services) =>
    async function* (signal): AsyncGenerator<ServerEvent<ChangedEnvironment>[]> {
      const changes = services.environments.changes(signal);
      const opened: ChangedEnvironment = { type: "opened" };
      yield [{ id: "0", data: opened }];
      for await (const batch of changes) yield batch.flatMap((change) => eventsOf(change, caller, services));
    },
);

function eventsOf(
  { id, name, current, previous }: EnvironmentChange,
  caller: Caller,
  { settings }: Services,
): ServerEvent<ChangedEnvironment>[] {
  const isVisible = (environment: EphemeralEnvironment | undefined) =>
    environment !== undefined && visibleTo(caller)(environment.spec);
  if (current !== undefined && isVisible(current)) {
    const environment = toListedReport(current, settings);
    return [{ id: current.metadata.resourceVersion, data: { type: "changed", id, name, environment } }];
  }
  if (!isVisible(previous)) return [];
  return [{ id: previous?.metadata.resourceVersion ?? "0", data: { type: "removed", id, name } }];
}

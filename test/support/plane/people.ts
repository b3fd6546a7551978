import { randomBytes } from "node:crypto";
import { type ApiCalls, type Callable, callsAs } from "./api-calls.ts";

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** A user with cluster-wide rights. */
export interface Person extends ApiCalls {
  leave(): Promise<void>;
}

const rbac = "rbac.authorization.k8s.io";

/** A unique name with this prefix. */
export function unique(prefix: string): string {
  return `${prefix}${randomBytes(4).toString("hex")}`;
}

/** The control plane's administrator, for a test's preparations and checks. */
export function administrator(plane: Callable): ApiCalls {
  return callsAs(plane, { token: plane.adminToken });
}

/** A member of `groups` with these rules, or the ClusterRole of that name, cluster-wide. */
export async function personWith(
  plane: Callable,
  rights: readonly Rule[] | string,
  groups: readonly string[] = [],
): Promise<Person> {
  const admin = administrator(plane);
  const user = unique("person-");
  const role = typeof rights === "string" ? rights : user;
  const roles = `/apis/${rbac}/v1/clusterroles`;
  if (typeof rights !== "string") await expectCreated(admin.create(roles, { metadata: { name: user }, rules: rights }));
  await expectCreated(
    admin.create(`/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
      subjects: [{ apiGroup: rbac, kind: "User", name: user }],
    }),
  );
  return {
    ...callsAs(plane, { user, groups }),
    async leave() {
      await admin.delete(`/apis/${rbac}/v1/clusterrolebindings/${user}`);
      if (role === user) await admin.delete(`${roles}/${user}`);
    },
  };
}

async function expectCreated(reply: ReturnType<ApiCalls["create"]>): Promise<void> {
  const { status, message } = await reply;
  if (status !== 201) throw new Error(`a test's own preparation was refused: ${message}`);
}

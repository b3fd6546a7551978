import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../../crds/group.ts";
import { DATABASE_LOGIN } from "../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import { networkPolicyKind, secretKind } from "../../../kit/client/kinds.ts";
import type { DesiredObject } from "../../../ports/cluster.ts";
import { COPY_SECRET } from "../backing-services/database-copy.ts";
import { inNamespace } from "./namespace.ts";
import { base64 } from "./secret.ts";

/** Policy in the copy's namespace: its Job may reach the source's database. */
export const COPY_POLICY = "database-copy";
/** Policy in the source's namespace: the Jobs of its copies may reach its database. */
export const COPIES_POLICY = "database-copies";

const NAME = "app.kubernetes.io/name";
const ofPods = (name: string) => ({ matchLabels: { [NAME]: name } });
// Labels of the chart's `seed.yaml` and `database.yaml`.
const JOB_PODS = ofPods("database-seed");
const DATABASE_PODS = ofPods("database");
const PORTS = [{ protocol: "TCP", port: 5432 }];

/** Namespaces by UID, because a name may come again. */
const namespacesOf = (uids: readonly string[]) => ({
  matchExpressions: [{ key: ENVIRONMENT_UID_LABEL, operator: "In", values: [...uids] }],
});

/** Way out of the copy's namespace to its source's database. */
export function copyPolicyObject(environment: EphemeralEnvironment, source: EphemeralEnvironment): DesiredObject {
  const to = [{ namespaceSelector: namespacesOf([source.metadata.uid]), podSelector: DATABASE_PODS }];
  const spec = { podSelector: JOB_PODS, policyTypes: ["Egress"], egress: [{ to, ports: PORTS }] };
  return inNamespace(environment, networkPolicyKind, COPY_POLICY, { spec });
}

/** Way into the source's namespace from those of its copies. */
export function copiesPolicyObject(
  environment: EphemeralEnvironment,
  copies: readonly EphemeralEnvironment[],
): DesiredObject {
  const uids = copies.map(({ metadata }) => metadata.uid).sort();
  const from = [{ namespaceSelector: namespacesOf(uids), podSelector: JOB_PODS }];
  const spec = { podSelector: DATABASE_PODS, policyTypes: ["Ingress"], ingress: [{ from, ports: PORTS }] };
  return inNamespace(environment, networkPolicyKind, COPIES_POLICY, { spec });
}

/** The password of the source's role, for the Job alone; immutable against edits: a change replaces the object. */
export function copySecretObject(environment: EphemeralEnvironment, password: Sensitive): DesiredObject {
  const data = { [DATABASE_LOGIN.name]: base64(password.reveal()) };
  return inNamespace(environment, secretKind, COPY_SECRET, { type: "Opaque", immutable: true, data });
}

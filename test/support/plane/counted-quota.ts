import { namespaceName } from "../../../crds/names.ts";
import { resourceQuotaKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { until } from "../fixtures/until.ts";

/** Waits until the environment's quotas are counted for the first time; before, they refuse everything. */
export async function untilCounted(admin: Pick<KubeClient, "find">, environment: string): Promise<void> {
  const isCounted = async (name: string) => {
    const quota = await admin.find(resourceQuotaKind, { name, namespace: namespaceName(environment) });
    return (quota?.status as { readonly used?: object } | undefined)?.used !== undefined;
  };
  for (const name of ["environment", "priority-classes"]) {
    await until(() => isCounted(name), { what: `the counted quota ${name}`, deadlineMs: 30_000 });
  }
}

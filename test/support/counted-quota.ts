import { namespaceName } from "../../crds/names.ts";
import { resourceQuotaKind } from "../../operator/kinds.ts";
import type { KubeClient } from "../../operator/kit/kube-client.ts";
import { until } from "./until.ts";

/** Waits until the environment's quota was counted, which changes it once, and without which it holds nothing back. */
export async function untilCounted(admin: Pick<KubeClient, "find">, environment: string): Promise<void> {
  const isCounted = async () => {
    const quota = await admin.find(resourceQuotaKind, { name: "environment", namespace: namespaceName(environment) });
    return (quota?.status as { readonly used?: object } | undefined)?.used;
  };
  await until(isCounted, { what: "a counted quota", deadlineMs: 30_000 });
}

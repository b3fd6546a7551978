import { namespaceName } from "../../crds/names.ts";
import { applicationKind } from "../../operator/kinds.ts";
import type { KubeClient } from "../../operator/kit/kube-client.ts";

/** The values of a component, as far as tests look at them. */
interface ComponentValues {
  readonly image: string;
  readonly replicas?: number;
}

/** The values that an environment's application carries. */
export interface ApplicationValues {
  readonly backend: ComponentValues;
  readonly frontend?: ComponentValues;
  readonly secret: { readonly name: string };
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly suspended?: boolean;
  readonly database?: object;
}

/** What the application of an environment was given; `undefined` while there is none. */
export async function applicationValues(
  admin: KubeClient,
  environment: string,
): Promise<ApplicationValues | undefined> {
  const found = await admin.find(applicationKind, { name: namespaceName(environment), namespace: "argocd" });
  const spec = found?.spec as { source: { helm: { valuesObject: ApplicationValues } } } | undefined;
  return spec?.source.helm.valuesObject;
}

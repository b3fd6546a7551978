import type { Settings } from "../../../config/settings.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import type { World } from "../worlds/environment-world.ts";

type HostCredential = Settings["secrets"]["hostCredentials"][number];

/** The private registries that images are pulled from, and charts; every Repository there has a credential of its own. */
export interface FaultRegistry {
  /** Credentials of the registries, for the settings; grows with every Repository. */
  readonly hostCredentials: HostCredential[];
  /** Registers a Repository, and stores its credential in the secret manager under the same name. */
  register(repository: string): Promise<void>;
  /** Stores another value of a Repository's credential. Idempotent. */
  renew(repository: string): Promise<void>;
  /** Moves a Repository's image to the other registry, which accepts the same credential. Idempotent. */
  move(repository: string): Promise<void>;
}

const HOST = "registry.test";
/** The chart, in a private place at the same host, where it stays. */
const CHART = { repoUrl: `oci://${HOST}/charts`, chart: "shop", version: "1.0.0" };
/** Registry of the images after their Repository moved. */
export const OTHER_HOST = "other-registry.test";
/** Common values, so that equal environments pull with equal credentials. */
const VALUES = { first: "puller:before-it-was-renewed", second: "puller:since-it-was-renewed" } as const;

export function createFaultRegistry({ admin, register }: Pick<World, "admin" | "register">): FaultRegistry {
  const hostCredentials: HostCredential[] = [];
  const refOf = (name: string) => ({ name, namespace: "ephemeral-secrets" });
  return {
    hostCredentials,
    async register(name) {
      hostCredentials.push({ id: name, hosts: [HOST, OTHER_HOST] });
      const metadata = { ...refOf(name), labels: { [SHARED_SECRET_LABEL]: "true" } };
      await admin.create(secretKind, { metadata, data: { "1": encoded(VALUES.first) } });
      await register(name, {
        image: { repository: `${HOST}/${name}` },
        imagePullSecretRef: { name, key: "latest" },
        chart: { ...CHART, credentialsRef: { name, key: "latest" } },
      });
    },
    async renew(name) {
      await admin.patch(secretKind, refOf(name), { data: { "2": encoded(VALUES.second) } }, { as: "merge" });
    },
    async move(name) {
      const spec = { image: { repository: `${OTHER_HOST}/${name}` } };
      await admin.patch(repositoryType, { name, namespace: "ephemeral-system" }, { spec }, { as: "merge" });
    },
  };
}

const encoded = (value: string) => Buffer.from(value).toString("base64");

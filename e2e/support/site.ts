/** The platform under test and its users' tokens: the variables in `.local/env` of `make up`. */
import { resolve } from "node:path";

/** The checkout of the running platform. */
export const checkout = resolve(import.meta.dirname, "../..");

/** The local cluster's state: its programs' records and logs, the identity provider's keys. */
export const stateFolder = resolve(checkout, ".local");

/** A test waits for real pods, sometimes for a restart of the operator; a wait inside it has a much shorter deadline. */
export const TEST_DEADLINE_MS = 240_000;

/** The platform's own names, as documented. */
export const names = {
  uidLabel: "ephemeral-environments.dev/environment-uid",
  secretStoreNamespace: "ephemeral-secrets",
  deployerNamespace: "argocd",
} as const;

export const site = {
  /** Read on use: a test that installs the platform sets it later. */
  get apiUrl() {
    return variable("API_URL");
  },
  kubectl: variable("KUBECTL"),
  kubeconfig: variable("KUBECONFIG"),
  caFile: variable("CA_FILE"),
} as const;

/** ID tokens of a developer, of a developer of another team, and of an administrator. */
export const tokens = {
  developer: variable("ID_TOKEN"),
  otherDeveloper: variable("OTHER_ID_TOKEN"),
  administrator: variable("ADMIN_ID_TOKEN"),
} as const;

function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set: run "make e2e", or "make up" and then "source .local/env"`);
}

import { join } from "node:path";
import { stateFolder } from "../build/folders.ts";

/** The state of the running local cluster: gone after `make down`. */
export const clusterFolder = join(stateFolder, "cluster");

/** The identity provider's keys and passwords, which outlive the cluster. */
export const identityFolder = join(stateFolder, "identity-provider");

/** Programs for trying the platform out; `source` puts them on the path. */
export const programsFolder = join(stateFolder, "bin");

/** Shell variables for trying the platform out; only `source` reads it. */
export const shellVariablesFile = join(stateFolder, "env");

/** The state of the platform that runs on this machine for an existing cluster. */
export const existingFolder = join(stateFolder, "existing");

/** The state of the kind cluster, and of the programs beside it: gone after `make down`. */
export const kindFolder = join(stateFolder, "kind");

/**
 * Mounts and sockets of the running local cluster. They are kept out of the checkout because a socket's path is
 * limited to 107 bytes, and because users other than root may not be able to enter the checkout.
 */
export const runFolder = "/run/ephemeral-environments";

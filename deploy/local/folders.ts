import { join } from "node:path";
import { stateFolder } from "../build/folders.ts";

/** The state of the local cluster, removed by `make down`. */
export const clusterFolder = join(stateFolder, "cluster");

/** Keys and passwords of the identity provider; they outlive the cluster. */
export const identityFolder = join(stateFolder, "identity-provider");

/** Programs for trying out the platform; `.local/env` puts them on the PATH. */
export const programsFolder = join(stateFolder, "bin");

/** Shell variables for trying out the platform, for `source` alone. */
export const shellVariablesFile = join(stateFolder, "env");

/** The state of the platform on this machine for an existing cluster. */
export const existingFolder = join(stateFolder, "existing");

/** The state of the kind cluster and of the programs beside it, removed by `make down`. */
export const kindFolder = join(stateFolder, "kind");

/**
 * Mounts and sockets of the local cluster. They lie outside the checkout because a socket's path is limited to 107 bytes and
 * other users than root may be unable to enter the checkout.
 */
export const runFolder = "/run/ephemeral-environments";

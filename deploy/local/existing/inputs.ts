import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { readSettings, type Settings } from "../../../config/settings.ts";
import { shortPath } from "../typed-words.ts";

/** A settings file to copy. */
export const exampleSettings = resolve(import.meta.dirname, "../../examples/settings.yaml");

/** The user's inputs: the cluster and the platform's settings. */
export interface Inputs {
  readonly kubeconfig: string;
  readonly settings: Settings;
}

/**
 * Reads KUBECONFIG (default `~/.kube/config`, as kubectl) and SETTINGS.
 *
 * Fails with one sentence that says what to give when one is missing, and with every violation of the settings.
 */
export function readInputs({ KUBECONFIG, SETTINGS }: NodeJS.ProcessEnv, home = homedir()): Inputs {
  const usual = join(home, ".kube/config");
  const given = KUBECONFIG || (existsSync(usual) ? usual : undefined);
  if (!given) {
    throw new Error(
      `CLUSTER=existing needs KUBECONFIG=<path>: the kubeconfig of an administrator of the cluster; there is no ${usual}.`,
    );
  }
  if (!SETTINGS) {
    throw new Error(
      `CLUSTER=existing needs SETTINGS=<file> with the base domain, the default chart and the issuers of ID tokens; copy ${shortPath(exampleSettings)} and put yours in.`,
    );
  }
  const kubeconfig = given.split(delimiter).map((path) => path && resolve(path));
  return { kubeconfig: kubeconfig.join(delimiter), settings: readSettings(SETTINGS) };
}

import { environmentKind } from "../../crds/environment/ephemeral-environment.ts";
import { insteadOf, isNotFound } from "../kit/client/errors.ts";
import { type KubeObject, resourceType } from "../kit/client/objects.ts";
import { type Check, type CheckOptions, runChecks } from "./check.ts";
import { kindsCheck } from "./kinds-check.ts";
import { policiesCheck } from "./policies-check.ts";
import { rightsCheck } from "./rights-check.ts";

const DEADLINE_MS = 60_000;

interface InstallationOptions extends CheckOptions {
  /** Address of the REST interface; absent: not checked. */
  readonly apiUrl?: string | undefined;
  /** Time for problems to pass (default a minute). */
  readonly deadlineMs?: number;
}

/**
 * Checks an installation under the platform's identity: kinds, rights and policies. Writes nothing. True without
 * problems.
 */
export function checkInstallation(options: InstallationOptions): Promise<boolean> {
  const { apiUrl, deadlineMs = DEADLINE_MS } = options;
  const checks = [kindsCheck, rightsCheck, policiesCheck, ...(apiUrl === undefined ? [] : [apiCheck(apiUrl)])];
  return runChecks(checks, options, deadlineMs);
}

/** Checks that no environments are left, which nothing would repair, expire or delete without the platform. */
export function checkRemoval(options: CheckOptions): Promise<boolean> {
  // Environments end only by a deletion, so there is nothing to wait for.
  return runChecks([removalCheck], options, 0);
}

const ANSWER_WITHIN_MS = 5_000;

/** Checks that the REST interface answers at its address, such as `http://platform.ephemeral-system`. */
function apiCheck(url: string): Check {
  const health = new URL("/api/health", url).href;
  return {
    name: "the REST interface answers",

    async problems() {
      const problem = await fetch(health, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(
        problemOf,
        ({ name, cause }: Error & { readonly cause?: { readonly code?: string } }) =>
          `does not answer (${cause?.code ?? name})`,
      );
      return [problem && `${health} ${problem}: look at kubectl get pods, and at the pods' log`];
    },
  };
}

async function problemOf(response: Response): Promise<string | undefined> {
  if (response.status !== 200) return `answers ${response.status}`;
  const { status } = (await response.json()) as { readonly status?: unknown };
  return status === "healthy" ? undefined : `says that it is ${status}`;
}

/** Further ones are counted, to keep the message readable. */
const MOST_BY_NAME = 10;

const environments = resourceType<KubeObject>(environmentKind);

const removalCheck: Check = {
  name: "no environment is left",

  async problems({ client }) {
    const nothing: { items: KubeObject[] } = { items: [] };
    // Without the kind there are no environments.
    const { items } = await client.list(environments, { metadataOnly: true }).catch(insteadOf(isNotFound, nothing));
    if (items.length === 0) return [];
    const names = items.map(({ metadata }) => metadata.name).sort();
    const others = names.length - MOST_BY_NAME;
    const named = names.slice(0, MOST_BY_NAME).join(", ") + (others > 0 ? ` and ${others} more` : "");
    return [
      `${named}: delete them first (kubectl delete eenv --all), or call helm uninstall with --no-hooks: then they stay, and nothing deletes them when they expire`,
    ];
  },
};

import { environmentKind } from "../../crds/environment/ephemeral-environment.ts";
import { insteadOf, isNotFound } from "../kit/client/errors.ts";
import { type KubeObject, resourceType } from "../kit/client/objects.ts";
import { type Check, type ReportOptions, report } from "./check.ts";
import { kindsCheck } from "./kinds-check.ts";
import { policiesCheck } from "./policies-check.ts";
import { rightsCheck } from "./rights-check.ts";

const DEADLINE_MS = 60_000;

interface Options extends Omit<ReportOptions, "deadlineMs"> {
  /** Address of the REST interface; absent: not checked. */
  readonly apiUrl?: string | undefined;
  /** Time for problems to pass (default a minute). */
  readonly deadlineMs?: number;
}

/**
 * Checks an installation under the platform's identity: kinds, rights and policies. Writes nothing. True without
 * problems.
 */
export function checkInstallation({ apiUrl, deadlineMs = DEADLINE_MS, ...options }: Options): Promise<boolean> {
  const checks = [kindsCheck, rightsCheck, policiesCheck, ...(apiUrl === undefined ? [] : [apiCheck(apiUrl)])];
  return report(checks, { ...options, deadlineMs });
}

const ANSWER_WITHIN_MS = 5_000;

/** Checks that the REST interface answers at its address, such as `http://platform.ephemeral-system`. */
function apiCheck(url: string): Check {
  const health = new URL("/api/health", url).href;
  return {
    name: "the REST interface answers",

    async problems() {
      const problem = await fetch(health, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).then(judged, unanswered);
      return problem === undefined ? [] : [`${health} ${problem}: look at kubectl get pods, and at the pods' log`];
    },
  };
}

async function judged(response: Response): Promise<string | undefined> {
  if (response.status !== 200) return `answers ${response.status}`;
  const { status } = (await response.json()) as { readonly status?: unknown };
  return status === "healthy" ? undefined : `says that it is ${status}`;
}

function unanswered(error: Error & { readonly cause?: { readonly code?: string } }): string {
  return `does not answer (${error.cause?.code ?? error.name})`;
}

/** Further ones are counted, to keep the message readable. */
const MOST_BY_NAME = 10;

const environments = resourceType<KubeObject>(environmentKind);

/** Checks that no environments are left, which nothing would repair, expire or delete without the platform. */
export function checkRemoval(options: Omit<ReportOptions, "deadlineMs">): Promise<boolean> {
  // Environments end only by a deletion, so there is nothing to wait for.
  return report([removalCheck], { ...options, deadlineMs: 0 });
}

const removalCheck: Check = {
  name: "no environment is left",

  async problems({ client }) {
    const nothing = { items: [] };
    // Without the kind there are no environments.
    const { items } = await client
      .list(environments, { metadataOnly: true })
      .catch(insteadOf(isNotFound, nothing as { items: KubeObject[] }));
    const names = items.map(({ metadata }) => metadata.name).sort();
    return names.length === 0 ? [] : [problem(names)];
  },
};

function problem(names: readonly string[]): string {
  const others = names.length - MOST_BY_NAME;
  const named = names.slice(0, MOST_BY_NAME).join(", ") + (others > 0 ? ` and ${others} more` : "");
  return `${named}: delete them first (kubectl delete eenv --all), or call helm uninstall with --no-hooks: then they stay, and nothing deletes them when they expire`;
}

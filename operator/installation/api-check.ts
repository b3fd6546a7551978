import type { Check } from "./check.ts";

const DEADLINE_MS = 5_000;

/** Checks that the REST interface answers at its address, such as `http://platform.ephemeral-system`. */
export function apiCheck(url: string): Check {
  const health = new URL("/api/health", url).href;
  return {
    name: "the REST interface answers",

    async problems() {
      const problem = await fetch(health, { signal: AbortSignal.timeout(DEADLINE_MS) }).then(judged, unanswered);
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

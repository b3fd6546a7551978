import type { ProbeResult, UrlProber } from "../../../../operator/ports/url-prober.ts";

/** URLs with the answers of a test, and the probes of them. */
export interface MemoryProber extends UrlProber {
  readonly requested: readonly string[];
  answer(url: string, result: Pick<ProbeResult, "status" | "responseTimeMs">): void;
  /** Delays all answers until the returned function is called. */
  hold(): () => void;
}

export function memoryProber(): MemoryProber {
  const requests: string[] = [];
  const answers = new Map<string, Pick<ProbeResult, "status" | "responseTimeMs">>();
  let held: Promise<void> | undefined;
  return {
    requested: requests,
    async probe(url, path) {
      requests.push(url + path);
      await held;
      return { status: "healthy", responseTimeMs: 7, ...answers.get(url), message: "" };
    },
    answer: (url, result) => void answers.set(url, result),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
  };
}

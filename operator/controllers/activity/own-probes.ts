import type { UrlProber } from "../../ports/url-prober.ts";

/** Requests that the platform's own probers sent, by host: they are no activity. */
export class OwnProbes {
  readonly #sent = new Map<string, number>();

  /** A prober whose requests are counted. */
  counted(prober: UrlProber): UrlProber {
    return {
      probe: async (url, path) => {
        const { host } = new URL(url);
        // Before it is sent: else a reading at that moment would take it for a user's.
        this.#add(host, 1);
        const result = await prober.probe(url, path);
        if (result.status === "unreachable") this.#add(host, -1);
        return result;
      },
    };
  }

  /** Probes of the host since the last call for it. */
  take(host: string): number {
    const sent = Math.max(0, this.#sent.get(host) ?? 0);
    this.#sent.delete(host);
    return sent;
  }

  #add(host: string, count: number): void {
    this.#sent.set(host, (this.#sent.get(host) ?? 0) + count);
  }
}

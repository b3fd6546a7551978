import type { UrlProber } from "../../ports/url-prober.ts";

/** Hosts that are remembered: a replica that does not lead has no reading that takes them. */
const MOST_HOSTS = 50_000;

/** Requests that the platform's own probers sent, by host: they are no activity. */
export class OwnProbes {
  #sent = new Map<string, number>();

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

  /** Probes since the last call, by host; negative where one that was taken then got no answer. */
  take(): ReadonlyMap<string, number> {
    const sent = this.#sent;
    this.#sent = new Map();
    return sent;
  }

  #add(host: string, count: number): void {
    if (this.#sent.size >= MOST_HOSTS) this.#sent = new Map();
    this.#sent.set(host, (this.#sent.get(host) ?? 0) + count);
  }
}

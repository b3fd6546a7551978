/** How a URL answered. */
export interface ProbeResult {
  /** `healthy`: 2xx or 3xx; `unhealthy`: another answer; `unreachable`: none in time. */
  readonly status: "healthy" | "unhealthy" | "unreachable";
  /** Whether none came because the ingress's certificate is not good for this URL. */
  readonly isCertificateRefused?: true;
  /** Whether no request was sent, because the URL leads to an internal address and the settings name no ingress there. */
  readonly isAddressRefused?: true;
  readonly responseTimeMs: number;
  /** What came back instead, for people. */
  readonly message: string;
}

/** Asks an environment's own URLs, never follows a redirect, reads at most 64 KiB, waits at most 5 s. Never throws. */
export interface UrlProber {
  probe(url: string, path: string): Promise<ProbeResult>;
}

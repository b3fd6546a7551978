/** Response of a URL. */
export interface ProbeResult {
  /** `healthy`: 2xx or 3xx; `unhealthy`: another response; `unreachable`: none in time. */
  readonly status: "healthy" | "unhealthy" | "unreachable";
  /** True when the ingress's certificate does not fit this URL. */
  readonly isCertificateRefused?: true;
  /** True when no request was sent: the URL leads to an internal address and the settings name no ingress there. */
  readonly isAddressRefused?: true;
  readonly responseTimeMs: number;
  readonly message: string;
}

/** Requests an environment's own URLs, follows no redirect, reads at most 64 KiB, waits at most 5 s. Never throws. */
export interface UrlProber {
  probe(url: string, path: string): Promise<ProbeResult>;
}

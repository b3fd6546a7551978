/** Requests that the ingress passed on to environments. */
export interface IngressTraffic {
  /**
   * Requests since the former reading, by namespace; one that got none may be missing. The first reading has none.
   *
   * @param namespaces those of environments
   * @throws IngressTrafficUnavailable when an instance does not answer, or answers without its counter
   */
  requestsSinceLast(namespaces: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** No answer, or one that can't be parsed. */
export class IngressTrafficUnavailable extends Error {
  override readonly name = "IngressTrafficUnavailable";
}

/** Requests that the ingress passed on to environments. One reading at a time. */
export interface IngressTraffic {
  /**
   * Requests since the former reading, by namespace; one that got none may be missing. The first reading has none. A
   * reading that fails loses nothing: the next one covers its time, too.
   *
   * @param namespaces those of environments
   * @throws IngressTrafficUnavailable when an instance does not answer, or answers without its counter
   */
  requestsSinceLast(namespaces: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** No answer, or one without figures: how many requests there were is unknown. */
export class IngressTrafficUnavailable extends Error {
  override readonly name = "IngressTrafficUnavailable";
}

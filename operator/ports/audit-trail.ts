/** Actor of a record, as the credential proves it. */
export type Actor =
  | { readonly subject: string; readonly method: "id_token" | "api_token"; readonly tokenId?: string }
  | {
      /** Owner for whom a signed link was made; another person with the link may have used it. */
      readonly subject: string;
      readonly method: "link";
    }
  | { readonly method: "none" }
  | {
      /** Name of the stored delivery of a verified webhook. */
      readonly method: "webhook";
      readonly delivery: string;
      /** The author's name on the host, from the event. */
      readonly login?: string;
    }
  | {
      /** Field managers of a write that bypassed the REST interface; the API server's own audit log has the user. */
      readonly fieldManagers: readonly string[];
      readonly method: "kubernetes";
    };

/** One action or attempt. Holds no credential, and of the sent values only the reason. */
export interface AuditRecord {
  /** Id of the record; also an annotation on the changed object. */
  readonly auditId: string;
  readonly requestId?: string;
  readonly event: "change" | "read" | "credential" | "denial";
  /**
   * Operation of the REST interface, or the change seen on the API server; empty for a request without an operation.
   */
  readonly action: string;
  readonly actor: Actor;
  /** Client address, from the trusted proxies. */
  readonly from?: string;
  /** Target, as the caller named it. */
  readonly target?: string;
  /** Reason that the caller or a rule gave. */
  readonly reason?: string;
  readonly objects: readonly { readonly kind?: string; readonly name: string; readonly uid: string }[];
  readonly outcome: "accepted" | "refused" | "failed" | "seen";
  readonly status?: number;
  readonly errorCode?: string;
}

export interface AuditTrail {
  /** Adds the record with the current time; resolves when it is stored or queued. Never rejects. */
  add(record: AuditRecord): Promise<void>;
  /** True when all records are stored and the next one would be. Retries failed ones; never rejects. */
  isKept(): Promise<boolean>;
}

/** The actor of a record, as far as a credential proves it. */
export type Actor =
  | {
      /** The subject of the credential. */
      readonly subject: string;
      readonly method: "id_token" | "api_token";
      readonly tokenId?: string;
    }
  | {
      /** The owner for whom a signed link was used; another person who had the link may have used it. */
      readonly subject: string;
      readonly method: "link";
    }
  | { readonly method: "none" }
  | {
      /** A verified webhook; the name of its stored delivery. */
      readonly method: "webhook";
      readonly delivery: string;
      /** The author's name on the host, as the event tells it. */
      readonly login?: string;
    }
  | {
      /** The field managers of a write that bypassed the REST interface; the API server's own audit log has the user. */
      readonly fieldManagers: readonly string[];
      readonly method: "kubernetes";
    };

/** One action or attempt. It holds no credential, and of the values that were sent only the reason. */
export interface AuditRecord {
  /** Also written on what was changed, as an annotation. */
  readonly auditId: string;
  readonly requestId?: string;
  readonly event: "change" | "read" | "credential" | "denial";
  /** The operation of the REST interface, or what was seen on the API server; empty where a request had no operation. */
  readonly action: string;
  readonly actor: Actor;
  /** The client's address, as the trusted proxies tell it. */
  readonly from?: string;
  /** What it was about, as the caller named it. */
  readonly concerns?: string;
  /** The reason that the caller gave. */
  readonly note?: string;
  /** The objects that were found or made. */
  readonly objects: readonly { readonly kind?: string; readonly name: string; readonly uid: string }[];
  readonly outcome: "accepted" | "refused" | "failed" | "seen";
  readonly status?: number;
  readonly errorCode?: string;
}

/** The audit log. */
export interface AuditTrail {
  /** Adds the record with the current time; resolves when it is stored, or waits to be stored. Never rejects. */
  add(record: AuditRecord): Promise<void>;

  /**
   * Whether all records so far are stored, and the next one would be. Retries those that could not be stored; never
   * rejects.
   */
  isKept(): Promise<boolean>;
}

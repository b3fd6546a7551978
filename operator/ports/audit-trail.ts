/** Who did something, as far as it is proved. */
export type Actor =
  | {
      /** Who the credential speaks of. */
      readonly subject: string;
      readonly method: "id_token" | "api_token";
      readonly tokenId?: string;
    }
  | { readonly method: "none" }
  | {
      /** What wrote past the REST interface, as it called itself; who it was stands in the API server's own audit log. */
      readonly fieldManagers: readonly string[];
      readonly method: "kubernetes";
    };

/** One thing that somebody did, or wanted to do. Never a credential, never a value that was sent beside its reason. */
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

/** Where it is written down who did what. */
export interface AuditTrail {
  /** Adds the record with the moment; resolves when it is kept, or can't be now and waits to be. Never rejects. */
  add(record: AuditRecord): Promise<void>;

  /**
   * Whether all records so far are kept, and the next one would be. Tries again what could not be kept a moment ago;
   * never rejects.
   */
  isKept(): Promise<boolean>;
}

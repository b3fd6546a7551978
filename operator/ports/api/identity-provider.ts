/** The users' account provider. Throws IdentityProviderUnavailable when it is unreachable, or refuses us. */
export interface IdentityProvider {
  /**
   * Sends a link for a new password, with the same answer for unknown addresses, so that accounts can't be probed. The
   * provider decides the link's target, never the request.
   */
  sendPasswordReset(email: string, signal: AbortSignal): Promise<void>;
}

/** The link was not sent; the message says why, without the address. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
  /** True when a retry may help and can't send a second link. */
  readonly mayAskAgain: boolean;

  constructor(message: string, { mayAskAgain = false, ...options }: ErrorOptions & { mayAskAgain?: boolean } = {}) {
    super(message, options);
    this.mayAskAgain = mayAskAgain;
  }
}

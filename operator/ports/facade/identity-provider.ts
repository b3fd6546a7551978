/** Where users have their accounts: what the platform asks of it. */
export interface IdentityProvider {
  /**
   * Has a link sent to the address, by which a new password can be set. An address without an account gets the same
   * answer, so that the answer does not tell which accounts exist. The provider decides where the link leads, never the
   * request.
   *
   * @throws IdentityProviderUnavailable when the provider can't be reached, or refuses us
   */
  sendPasswordReset(email: string, signal: AbortSignal): Promise<void>;
}

/** The identity provider did not send the link; the message says why, without the address. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
  /** Whether a retry may help and can't send a second link. */
  readonly mayAskAgain: boolean;

  constructor(message: string, { mayAskAgain = false, ...options }: ErrorOptions & { mayAskAgain?: boolean } = {}) {
    super(message, options);
    this.mayAskAgain = mayAskAgain;
  }
}

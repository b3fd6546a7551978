/** Where people's accounts are, as far as the platform has anything to ask of it. */
export interface IdentityProvider {
  /**
   * Has a link sent to the address, by which a new password can be set. An address without an account is answered in the
   * same way: nobody learns here who has one. Where the link leads is the provider's own matter, never the request's.
   *
   * @throws IdentityProviderUnavailable when the provider can't be reached, or refuses us
   */
  sendPasswordReset(email: string, signal: AbortSignal): Promise<void>;
}

/** The identity provider did not do it; the message says why, without the address. */
export class IdentityProviderUnavailable extends Error {
  override readonly name = "IdentityProviderUnavailable";
  /** Whether asking again may help, and can't have done twice what was asked for once. */
  readonly mayAskAgain: boolean;

  constructor(message: string, { mayAskAgain = false, ...options }: ErrorOptions & { mayAskAgain?: boolean } = {}) {
    super(message, options);
    this.mayAskAgain = mayAskAgain;
  }
}

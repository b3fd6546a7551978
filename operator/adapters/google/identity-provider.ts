import type { Sensitive } from "../../../crds/sensitive.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/facade/identity-provider.ts";
import { isPassing, post } from "../identity-provider/call.ts";

const ENDPOINT = "https://identitytoolkit.googleapis.com";

/** What the settings say of a project of Google Identity Platform. */
export interface GoogleIdentityOptions {
  /** The key that Google calls the web API key of the project. */
  readonly apiKey: Sensitive;
  /** The tenant whose accounts are meant; the project's own when left out. */
  readonly tenantId?: string;
  /** Where the page of the link leads on to, when the password is set. */
  readonly continueUrl?: string;
  /** Google's own address, unless a test has another one. */
  readonly endpoint?: string;
}

/** Codes about this one account, so that the caller may not learn of them: it is absent, closed, or had its share of mails. */
const OF_THE_ACCOUNT = new Set(["EMAIL_NOT_FOUND", "INVALID_EMAIL", "USER_DISABLED", "RESET_PASSWORD_EXCEED_LIMIT"]);

/** Google Identity Platform by its REST API: https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode */
export function googleIdentityProvider(options: GoogleIdentityOptions): IdentityProvider {
  const { apiKey, tenantId, continueUrl, endpoint = ENDPOINT } = options;
  return {
    async sendPasswordReset(email, signal) {
      const { status, body } = await post(`${endpoint}/v1/accounts:sendOobCode`, {
        // In a header, not in the address: addresses end up in logs.
        headers: { "x-goog-api-key": apiKey.reveal() },
        body: {
          requestType: "PASSWORD_RESET",
          email,
          ...(tenantId === undefined ? {} : { tenantId }),
          ...(continueUrl === undefined ? {} : { continueUrl }),
        },
        signal,
      });
      if (status === 200) return;
      const code = codeOf(body);
      if (status === 400 && OF_THE_ACCOUNT.has(code)) return;
      const message = `Google Identity Platform answered ${status} ${code}`.trimEnd();
      throw new IdentityProviderUnavailable(message, { mayAskAgain: isPassing(status) });
    },
  };
}

/** The code before the colon of Google's message, such as `EMAIL_NOT_FOUND`; what follows it may repeat what we sent. */
function codeOf(body: unknown): string {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === "string" ? (/^[A-Z_]+/.exec(message)?.[0] ?? "") : "";
}

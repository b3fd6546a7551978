import type { Sensitive } from "../../../crds/sensitive.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/api/identity-provider.ts";
import { isPassing, post } from "../identity-provider/call.ts";

const ENDPOINT = "https://identitytoolkit.googleapis.com";

/** Settings of a Google Identity Platform project. */
export interface GoogleIdentityOptions {
  readonly apiKey: Sensitive;
  /** Tenant of the accounts; the project's own by default. */
  readonly tenantId?: string;
  /** Target after the password is set. */
  readonly continueUrl?: string;
  /** Google's address by default; tests have another. */
  readonly endpoint?: string;
}

/** Codes about this one account, which the caller must not learn: it is absent, closed, or had its share of mails. */
const OF_THE_ACCOUNT = new Set(["EMAIL_NOT_FOUND", "INVALID_EMAIL", "USER_DISABLED", "RESET_PASSWORD_EXCEED_LIMIT"]);

/**
 * Google Identity Platform's REST API:
 * https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode
 */
export function googleIdentityProvider(options: GoogleIdentityOptions): IdentityProvider {
  const { apiKey, tenantId, continueUrl, endpoint = ENDPOINT } = options;
  return {
    async sendPasswordReset(email, signal) {
      const { status, body } = await post(`${endpoint}/v1/accounts:sendOobCode`, {
        // A header, because addresses end up in logs.
        headers: { "x-goog-api-key": apiKey.reveal() },
        body: { requestType: "PASSWORD_RESET", email, tenantId, continueUrl },
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

/** The code before the colon of Google's message, such as `EMAIL_NOT_FOUND`; the rest may repeat sent values. */
function codeOf(body: unknown): string {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === "string" ? (/^[A-Z_]+/.exec(message)?.[0] ?? "") : "";
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { errors, type Provider } from "oidc-provider";
import { answer, readForm } from "./exchange.ts";
import { errorPage, loginPage } from "./pages.ts";
import type { Passwords } from "./passwords.ts";

/** True when a request belongs to the log-in pages, not to the provider's own endpoints. */
export function isInteraction({ url = "" }: IncomingMessage): boolean {
  return url.startsWith("/interaction/");
}

/** Shows the log-in page and processes its form. Consent is implied: all clients are ours. */
export async function interact(
  { provider, passwords }: { provider: Provider; passwords: Passwords },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent") {
    const consent = { grantId: await grantAll(provider, { grantId, subject: session?.accountId, params }) };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  }
  if (request.method !== "POST") return answer(response, 200, loginPage());
  const form = await readForm(request);
  const account = form && passwords.logIn(form.get("email") ?? "", form.get("password") ?? "");
  if (!account) return answer(response, 403, loginPage("The e-mail address or the password is wrong."));
  return provider.interactionFinished(request, response, { login: { accountId: account.subject } });
}

/** Answers an expired or unknown log-in. */
export function interactionFailed(response: ServerResponse, error: unknown): void {
  if (!(error instanceof errors.SessionNotFound)) console.error("a log-in failed", error);
  answer(response, 400, errorPage("This log-in has expired. Start again where you came from."));
}

interface Consent {
  readonly grantId: string | undefined;
  readonly subject: string | undefined;
  readonly params: Record<string, unknown>;
}

async function grantAll(provider: Provider, { grantId, subject, params }: Consent): Promise<string> {
  const known = grantId ? await provider.Grant.find(grantId) : undefined;
  const fresh = { clientId: String(params.client_id), ...(subject && { accountId: subject }) };
  const grant = known ?? new provider.Grant(fresh);
  grant.addOIDCScope(String(params.scope));
  return grant.save();
}

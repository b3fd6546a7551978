import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import { hostOf } from "../../crds/repository/repository.ts";
import type { WebhookFormat } from "../ports/webhooks/webhook-format.ts";

/** The form in which webhooks are signed and read: that of a kind of host, or the REST contract's. */
export type FormatKind = HostKind | "neutral";
/** The format of each form. A technology of hosts is one of them. */
export type WebhookFormats = Readonly<Record<FormatKind, { readonly format: WebhookFormat }>>;

/** The form of webhooks of a Repository or a delivery; `undefined` when the settings lack the host that it names. */
export function formatKindOf(
  { host }: { readonly host?: string | undefined },
  settings: Pick<Settings, "hosts">,
): FormatKind | undefined {
  return host === undefined ? "neutral" : hostOf({ host }, settings)?.kind;
}

/** The format of a Repository or a delivery; the REST contract's where the settings lack the host that it names. */
export function formatOf(
  named: { readonly host?: string | undefined },
  { settings, formats }: { readonly settings: Pick<Settings, "hosts">; readonly formats: WebhookFormats },
): WebhookFormat {
  return formats[formatKindOf(named, settings) ?? "neutral"].format;
}

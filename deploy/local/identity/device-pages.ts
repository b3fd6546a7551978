import type { Configuration } from "oidc-provider";
import { showPage } from "./exchange.ts";
import { deviceConfirmPage, deviceDonePage, devicePage } from "./pages.ts";

type DeviceFlow = NonNullable<NonNullable<Configuration["features"]>["deviceFlow"]>;

/** The pages that authorize a program without a browser (RFC 8628). */
export const devicePages: Pick<DeviceFlow, "userCodeInputSource" | "userCodeConfirmSource" | "successSource"> = {
  userCodeInputSource: (context, form, _out, error) =>
    showPage(context, devicePage(form, error === undefined ? undefined : "This code is not known, or has expired.")),
  // The fifth parameter is the code.
  userCodeConfirmSource: (context, form, { clientId }, ...[, code]) =>
    showPage(context, deviceConfirmPage(form, { clientId, code })),
  successSource: (context) => showPage(context, deviceDonePage()),
};

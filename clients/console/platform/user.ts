import { signal } from "@preact/signals";
import type { CurrentUser } from "../../sdk/index.ts";
import { platform } from "./client.ts";

/** User of the page; `undefined` until it is known. */
export const user = signal<CurrentUser | undefined>(undefined);

export type Permission = CurrentUser["permissions"][number];

/** Loads the user of the page. @throws PlatformError, as without a session */
export async function learnUser(): Promise<CurrentUser> {
  const known = await platform.call("GET /api/v2/auth/user");
  user.value = known;
  return known;
}

/** True when an action should be offered; the platform decides again. */
export function may(permission: Permission): boolean {
  return user.value?.permissions.includes(permission) ?? false;
}

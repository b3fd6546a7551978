import { signal } from "@preact/signals";
import type { CurrentUser } from "../../sdk/index.ts";
import { platform } from "./client.ts";

/** Who uses the page; `undefined` until the platform has said it. */
export const user = signal<CurrentUser | undefined>(undefined);

export type Permission = CurrentUser["permissions"][number];

/** Asks the platform who uses the page. @throws PlatformError, as without a session */
export async function learnUser(): Promise<CurrentUser> {
  const known = await platform.call("GET /api/v2/auth/user");
  user.value = known;
  return known;
}

/** Whether it makes sense to offer something. What is allowed, the platform decides again at each call. */
export function may(permission: Permission): boolean {
  return user.value?.permissions.includes(permission) ?? false;
}

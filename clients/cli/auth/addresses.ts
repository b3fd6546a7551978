import { misuse } from "../failure.ts";

/**
 * URL under which credentials are stored; of a page of the console, which people copy, the platform's.
 *
 * @throws Failure (misuse) for an invalid one
 */
export function platformUrl(text: string): string {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "") {
    throw misuse(`'${text}' is no URL of a platform such as https://eenv.example.com`);
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/console(\/.*)?$/, "")}`.replace(/\/+$/, "");
}

/** True when requests to it stay on this machine. */
export const isLoopback = ({ hostname }: URL): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

import { misuse } from "../failure.ts";

/**
 * A URL as credentials are remembered by it; that of a page of the console, which people copy, is the platform's.
 *
 * @throws Failure (misuse) for what is none
 */
export function platformUrl(text: string): string {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "") {
    throw misuse(`'${text}' is no URL of a platform such as https://eenv.example.com`);
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/console(\/.*)?$/, "")}`.replace(/\/+$/, "");
}

/** Whether requests to it stay on this machine. */
export const isLoopback = ({ hostname }: URL): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

/** Links to addresses from the platform: names by an environment are not trusted. */

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Address for a link; `undefined` unless it is `https:`, or `http:` on this machine. */
export function linkAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, href, username, password } = new URL(address);
  if (username !== "" || password !== "") return undefined;
  const isFit = protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
  return isFit ? href : undefined;
}

/** Address without scheme and last slash. */
export const shortAddress = (address: string) => address.replace(/^https?:\/\//, "").replace(/\/$/, "");

/** Path of an environment's screen. */
export const environmentPath = (name: string, tab = "") =>
  `/console/environments/${encodeURIComponent(name)}${tab && `/${tab}`}`;

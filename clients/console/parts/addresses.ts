/** Which addresses that the platform passes on may become links: what an environment names is not to be trusted. */

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The address as a link's; `undefined` for what is no `https:` address, nor an `http:` one of this machine. */
export function linkAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, hostname, href, username, password } = new URL(address);
  if (username !== "" || password !== "") return undefined;
  const isFit = protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
  return isFit ? href : undefined;
}

/** An address without what all of them have. */
export const shortAddress = (address: string) => address.replace(/^https?:\/\//, "").replace(/\/$/, "");

/** The path of an environment's screen. */
export const environmentPath = (name: string, tab = "") =>
  `/console/environments/${encodeURIComponent(name)}${tab && `/${tab}`}`;

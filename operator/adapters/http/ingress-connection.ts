import { lookup as resolve } from "node:dns";
import type { RequestOptions } from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { present } from "../../../crds/present.ts";

/** Way to the ingress in front of environments. */
export interface IngressSettings {
  /** Connected to, as `host:port` or `[address]:port`; the URL still decides SNI, Host and certificate. */
  readonly ingressAddress?: string | undefined;
  /** CA of the ingress certificate, in PEM; the system's by default. */
  readonly ca?: string | undefined;
}

/** Code of the error of a connection to an internal address. */
export const NOT_PUBLIC = "AddressNotPublic";

/** Options of a request to a URL of an environment, through the ingress. */
export function connection(url: URL, { ingressAddress, ca }: IngressSettings): RequestOptions {
  const tls = { servername: url.hostname, ...present({ ca }) };
  if (ingressAddress === undefined) return { ...tls, lookup: publicAddressOnly };
  const colon = ingressAddress.lastIndexOf(":");
  return {
    ...tls,
    // Not `host`: the URL's own `hostname` would win.
    hostname: withoutBrackets(ingressAddress.slice(0, colon)),
    port: Number(ingressAddress.slice(colon + 1)),
    headers: { host: url.host },
  };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** True when the URL names an internal address itself, which is never resolved, and the settings name no ingress. */
export function isRefused(url: URL, { ingressAddress }: IngressSettings): boolean {
  const address = withoutBrackets(url.hostname);
  return ingressAddress === undefined && isIP(address) !== 0 && isInside(address);
}

function isInside(address: string): boolean {
  return inside.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

/**
 * Resolves for this connection and refuses internal addresses: an environment's URL must not lead to the metadata
 * service or the platform itself.
 */
const publicAddressOnly: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: false }, (error, address, family) => {
    if (error) return callback(error, "", 0);
    const refusal = Object.assign(new Error("the address is not public"), { code: NOT_PUBLIC });
    return isInside(address)
      ? callback(refusal, "", 0)
      : callback(null, options.all ? [{ address, family }] : address, family);
  });
};

/**
 * https://www.iana.org/assignments/iana-ipv4-special-registry/ and its IPv6 twin; mapped addresses are checked as IPv4.
 */
const inside = new BlockList();
for (const subnet of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
  "::/127",
  "64:ff9b::/96",
  "fc00::/7",
  "fe80::/10",
  "ff00::/8",
]) {
  const [net = "", prefix] = subnet.split("/");
  inside.addSubnet(net, Number(prefix), familyOf(net));
}

import { run } from "../../build/run.ts";
import { addresses } from "./addresses.ts";
import { isKubeProxyTable } from "./conflicts.ts";
import { restoreSysctls, setSysctls, wereSysctlsSet } from "./sysctls.ts";

const { bridge, applicationControllerMetricsPort } = addresses;

/** Our own nftables table; every kube-proxy uses `kube-proxy`. */
const table = "ephemeral-environments";

/** Ports for root alone: metrics and health, served without authentication. */
const rootsPorts = [
  addresses.schedulerPort,
  addresses.repoServerMetricsPort,
  addresses.applicationControllerMetricsPort,
  addresses.kubeProxyHealthPort,
  addresses.kubeProxyMetricsPort,
  addresses.ingressMetricsPort,
  addresses.probesPort,
  addresses.gateProbesPort,
];

/** Ports of this machine that pods may reach: the DNS server and the API server. */
const podsPorts = { tcp: [addresses.dnsPort, addresses.apiServerPort], udp: [addresses.dnsPort] };

/**
 * Makes the pods' bridge, enables forwarding between pods (a Service's route leads through the host), and closes it: the
 * outside reaches neither the bridge nor the one port without a configurable address; pods reach no other network, and of
 * this machine only what they need; other users than root do not reach the unauthenticated ports. `opened` are further ports
 * of the bridge's address for pods.
 */
export async function makeNetwork(opened: readonly number[] = []): Promise<void> {
  await setSysctls();
  if (!(await bridgeExists())) {
    await run("ip", ["link", "add", bridge.name, "type", "bridge"]);
    await run("ip", ["address", "add", `${bridge.address}/${bridge.prefix}`, "dev", bridge.name]);
    await run("ip", ["link", "set", bridge.name, "up"]);
  }
  await run("nft", [rules([...podsPorts.tcp, ...opened])]);
  if (await forwardsNothing()) await run("iptables", ["--insert", ...acceptAmongPods]);
}

/**
 * Undoes `makeNetwork`, skipping missing parts. Also removes kube-proxy's rules when `makeNetwork` came that far: it runs
 * only where no other kube-proxy is, so they are ours.
 */
export async function removeNetwork(): Promise<void> {
  if (await acceptsAmongPods()) await run("iptables", ["--delete", ...acceptAmongPods]);
  if (await bridgeExists()) await run("ip", ["link", "delete", bridge.name]);
  const tables = (await run("nft", ["list", "tables"])).split("\n");
  for (const line of oursAmong(tables, wereSysctlsSet())) await run("nft", ["delete", ...line.split(" ")]);
  await restoreSysctls();
}

// Another container engine sets the forward chain's policy to drop; the accepts of our own table do not override it.
const acceptAmongPods = ["FORWARD", "-i", bridge.name, "-o", bridge.name, "-j", "ACCEPT"];

async function forwardsNothing(): Promise<boolean> {
  return (await forwardChain()).includes("policy drop") && !(await acceptsAmongPods());
}

async function acceptsAmongPods(): Promise<boolean> {
  return (await forwardChain()).includes(`iifname "${bridge.name}" oifname "${bridge.name}"`);
}

/** The forward chain of iptables, empty when missing; calling iptables would create it. */
async function forwardChain(): Promise<string> {
  const ruleset = await run("nft", ["list", "ruleset"]);
  return /^table ip filter \{[\s\S]*?^\}/m.exec(ruleset)?.[0].match(/chain FORWARD \{[\s\S]*?\}/)?.[0] ?? "";
}

async function bridgeExists(): Promise<boolean> {
  const links: { ifname: string }[] = JSON.parse(await run("ip", ["-json", "link", "show"]));
  return links.some(({ ifname }) => ifname === bridge.name);
}

/** Lines of `nft list tables` with tables of the local cluster, given whether kube-proxy's are its own. */
export function oursAmong(lines: readonly string[], hasKubeProxy: boolean): string[] {
  return lines.filter((line) => line.split(" ")[2] === table || (hasKubeProxy && isKubeProxyTable(line)));
}

const set = (ports: readonly number[]) => `{ ${ports.join(", ")} }`;

function rules(tcp: readonly number[]): string {
  const outside = `iifname != { "lo", "${bridge.name}" }`;
  return `
    add table inet ${table}
    flush table inet ${table}
    table inet ${table} {
      chain input {
        type filter hook input priority filter; policy accept;
        ${outside} ip daddr ${bridge.network} drop
        ${outside} tcp dport ${applicationControllerMetricsPort} drop
        iifname "${bridge.name}" jump from_pods
      }
      chain from_pods {
        meta nfproto ipv6 drop
        # What this machine began: probes of the kubelet, requests of the ingress, and of anybody here to a Service.
        ct state established,related accept
        ip daddr != ${bridge.address} drop
        tcp dport ${set(tcp)} accept
        udp dport ${set(podsPorts.udp)} accept
        # Refused at once, so that no caller waits for what will never come.
        reject
      }
      chain output {
        type filter hook output priority filter; policy accept;
        oifname "lo" tcp dport ${set(rootsPorts)} meta skuid != 0 reject with tcp reset
      }
      chain forward {
        type filter hook forward priority filter; policy accept;
        iifname "${bridge.name}" oifname != "${bridge.name}" drop
        iifname != "${bridge.name}" oifname "${bridge.name}" drop
      }
    }`;
}

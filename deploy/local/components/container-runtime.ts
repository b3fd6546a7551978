import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../build/run.ts";
import { isAnswered } from "../cleanup/fixed-paths.ts";
import { runFolder } from "../folders.ts";
import { addresses, podNetwork } from "../network/addresses.ts";
import { mountOnce } from "../processes/mounts.ts";
import { keepRunning } from "../processes/process.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";

/** The socket of containerd. */
export const containerdSocket = join(runFolder, "containerd.sock");

/**
 * containerd's folder of images: a bind mount, because a comma or a colon in a path would end it in the options of an
 * overlay.
 */
const data = join(runFolder, "containerd-data");

/** The image of the container that holds a pod's namespaces. */
export const pauseImage = "docker.io/local/pause:1";

/** containerd with all its data in our folders, so that another containerd on the machine is not touched. */
export const containerdComponent: BuiltComponent = {
  name: "containerd",
  after: ["network"],
  async start(site) {
    const source = join(site.folder, "containerd");
    await mkdir(source, { recursive: true });
    await mountOnce(source, data);
    const config = join(site.folder, "containerd.toml");
    await writeFile(config, containerdConfig(site));
    await writeNetwork(site);
    const programs = site.built.containerd.programs;
    const command = join(programs, "containerd");
    const spec = {
      name: "containerd",
      command,
      args: ["--config", config],
      env: { PATH: `${programs}:${process.env.PATH}` },
    };
    await keepRunning(site.folder, spec, () => isAnswered(containerdSocket));
  },
};

/** Runs `ctr` in the kubelet's namespace and returns its output. */
export function containerd({ built }: Pick<ClusterSite, "built">, ...args: string[]): Promise<string> {
  const ctr = join(built.containerd.programs, "ctr");
  return run(ctr, ["--address", containerdSocket, "--namespace", "k8s.io", ...args]);
}

function containerdConfig({ folder, built }: ClusterSite): string {
  const runtime = "plugins.'io.containerd.cri.v1.runtime'";
  return `version = 3
root = "${data}"
state = "${join(runFolder, "containerd")}"
[grpc]
  address = "${containerdSocket}"
[plugins.'io.containerd.nri.v1.nri']
  # It would take the socket of another runtime's away.
  disable = true
[plugins.'io.containerd.internal.v1.opt']
  path = "${join(folder, "containerd-opt")}"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${pauseImage}"
[${runtime}]
  # Without CAP_SYS_RESOURCE (a container, some virtual machines) lowering a score fails every pod.
  restrict_oom_score_adj = true
  # Below our own folder a stop finds them; in /run/netns they would stand among other programs'.
  netns_mounts_under_state_dir = true
[${runtime}.cni]
  bin_dirs = ["${built.containerd.programs}"]
  conf_dir = "${join(folder, "cni")}"
  # The plugin for it would leave a file per pod behind.
  use_internal_loopback = true
[${runtime}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${runtime}.containerd.runtimes.runc.options]
  SystemdCgroup = false
  Root = "${join(runFolder, "runc")}"
`;
}

async function writeNetwork({ folder }: ClusterSite): Promise<void> {
  const ranges = [[{ subnet: addresses.bridge.network }]];
  const ipam = { type: "host-local", dataDir: join(runFolder, "cni"), ranges, routes: [{ dst: "0.0.0.0/0" }] };
  const bridge = {
    type: "bridge",
    bridge: addresses.bridge.name,
    isGateway: true,
    ipMasq: false,
    hairpinMode: true,
    ipam,
  };
  await mkdir(join(folder, "cni"), { recursive: true });
  const network = { cniVersion: "1.0.0", name: podNetwork, plugins: [bridge] };
  await writeFile(join(folder, "cni", "10-pods.conflist"), JSON.stringify(network, null, 2));
}

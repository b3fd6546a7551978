import { describe, expect, test } from "@jest/globals";
import { mountsBelow } from "../../../../../deploy/local/cleanup/cleanup.ts";
import { oursAmong } from "../../../../../deploy/local/network/network.ts";
import { hierarchiesAmong } from "../../../../../deploy/local/processes/control-groups.ts";
import { mountsIn } from "../../../../../deploy/local/processes/mounts.ts";

const mounts = `proc /proc proc rw 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
overlay /run/ephemeral-environments/containerd/task overlay rw 0 0
shm /run/ephemeral-environments/containerd/task/shm tmpfs rw 0 0
tmpfs /run/ephemeral-environments-of-others/task tmpfs rw 0 0
tmpfs /a\\040checkout/.local/cluster/kubelet tmpfs rw 0 0
`;

describe("the cleanup of a local cluster", () => {
  test("unmounts innermost mounts first", () => {
    expect(mountsBelow(mountsIn(mounts), ["/run/ephemeral-environments"])).toEqual([
      "/run/ephemeral-environments/containerd/task/shm",
      "/run/ephemeral-environments/containerd/task",
    ]);
  });

  test("finds mounts below a folder with a blank in its name", () => {
    expect(mountsBelow(mountsIn(mounts), ["/a checkout/.local/cluster"])).toEqual([
      "/a checkout/.local/cluster/kubelet",
    ]);
  });

  test("finds processes in control groups of both versions", () => {
    expect(hierarchiesAmong(mountsIn(mounts))).toEqual(["/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"]);
  });

  test("distinguishes its rules from those of other programs", () => {
    const foreign = ["table ip nat", "table ip kube-proxy-of-others", ""];
    const own = "table inet ephemeral-environments";
    const kubeProxy = ["table ip kube-proxy", "table ip6 kube-proxy"];
    expect(oursAmong([...foreign, own, ...kubeProxy], true)).toEqual([own, ...kubeProxy]);
    expect(oursAmong([...foreign, own, ...kubeProxy], false)).toEqual([own]);
  });
});

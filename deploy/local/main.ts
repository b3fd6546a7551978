import { startCluster } from "./cluster.ts";
import { clusterParts } from "./parts/index.ts";
import { showProgress } from "./progress.ts";
import { clusterStatus, stopCluster } from "./stop.ts";
import { up } from "./up.ts";

const usage = `Usage: main.ts COMMAND

The local cluster: a real Kubernetes with Argo CD, an ingress, a git host and an identity provider, without Docker.

  up        start what is missing and make the environment hello; says what to do next
  cluster   start the cluster without the platform; prints where everything is, as JSON
  down      stop it and leave nothing behind
  status    which of its programs run
`;

const commands: Readonly<Record<string, () => Promise<void>>> = {
  up,
  async cluster() {
    console.log(JSON.stringify(await startCluster(showProgress(), clusterParts), null, 2));
  },
  async down() {
    await showProgress().step("stop the local cluster", stopCluster);
  },
  async status() {
    const programs = await clusterStatus();
    for (const { name, pid, running, logFile } of programs) {
      console.log(`${running ? "running" : "ended  "}  ${String(pid).padStart(7)}  ${name.padEnd(30)} ${logFile}`);
    }
    if (programs.length === 0) console.log("The local cluster is not running.");
  },
};

const [name = "--help"] = process.argv.slice(2);
const command = commands[name];
if (command) {
  await command().catch((error: Error) => {
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  });
} else {
  console.log(usage);
  process.exitCode = ["--help", "help"].includes(name) ? 0 : 2;
}

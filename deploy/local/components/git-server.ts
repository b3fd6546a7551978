import { join } from "node:path";
import { answersWell } from "../../build/wait.ts";
import { runFolder } from "../folders.ts";
import { addresses } from "../network/addresses.ts";
import { mountOnce } from "../processes/mounts.ts";
import { keepRunning } from "../processes/process.ts";
import { programUsers } from "../processes/unprivileged.ts";
import type { UnbuiltComponent } from "./component.ts";

/** The repositories' folder for git: a bind mount, because git's user may not enter root's folders. */
const root = join(runFolder, "git-server");

/** The git repositories of the chart and the sample application, readable by every user of this machine. */
export const gitServerComponent: UnbuiltComponent = {
  name: "git server",
  after: [],
  needsBuild: false,
  async start(site) {
    await mountOnce(site.repositoriesFolder, root);
    const script = join(import.meta.dirname, "../git/serve.ts");
    const args = [script, String(addresses.gitServerPort), root, String(programUsers.gitServer.uid)];
    const url = `${site.repositories.chart.url}/info/refs?service=git-upload-pack`;
    await keepRunning(site.folder, { name: "git-server", command: process.execPath, args }, () => answersWell(url));
  },
};

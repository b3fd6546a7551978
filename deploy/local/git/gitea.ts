import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { planned } from "../../build/progress.ts";
import { run } from "../../build/run.ts";
import { answersWell } from "../../build/wait.ts";
import { type BuiltModule, buildModule } from "../builds/build.ts";
import { gitea } from "../builds/modules.ts";
import { clusterFolder, runFolder } from "../folders.ts";
import { addresses, giteaUrl } from "../network/addresses.ts";
import { mountOnce } from "../processes/mounts.ts";
import { keepRunning, type ProcessSpec } from "../processes/process.ts";
import { ownFolder, programUsers } from "../processes/unprivileged.ts";
import type { ClusterSite } from "../site.ts";
import { type GiteaApi, giteaApi } from "./gitea-api.ts";
import { giteaConfig, giteaUserName } from "./gitea-config.ts";
import { ensureShop } from "./shop.ts";

/** Gitea refuses to run as root. */
const user = programUsers.gitea;

/** Gitea's program and data: bind mounts, because its user may not enter root's folders. */
const folders = {
  program: join(runFolder, "gitea/program"),
  data: join(runFolder, "gitea/data"),
};

/** The file with name and password of Gitea's administrator. */
export const administratorFile = join(clusterFolder, "gitea-administrator.json");

/**
 * Starts Gitea beside the local cluster, with repositories whose pull requests get environments, and answers its REST
 * interface as administrator.
 */
export async function startGitea(site: ClusterSite): Promise<GiteaApi> {
  const { progress } = site;
  const built = await buildModule(gitea, planned(progress, [{ name: gitea.name, weight: gitea.buildSeconds }]));
  await progress.step("gitea", async () => {
    await mountFolders(built);
    const config = join(folders.data, "app.ini");
    if (!existsSync(config)) await writeConfig(config);
    await keepRunning(clusterFolder, giteaProgram(config), () => answersWell(`${giteaUrl}/api/healthz`));
    if (!existsSync(administratorFile)) await makeAdministrator(config);
  });
  const api = await giteaApi(administratorFile);
  await progress.step("repositories with webhooks", () => ensureShop(api, site));
  return api;
}

function giteaProgram(config: string, ...args: string[]): ProcessSpec {
  const arguments_ = args.length > 0 ? args : ["web"];
  const command = join(folders.program, "programs/gitea");
  const env = { HOME: folders.data, USER: giteaUserName, GITEA_WORK_DIR: folders.data, TMPDIR: folders.data };
  return { name: "gitea", command, args: [...arguments_, "--config", config], env, cwd: folders.data, ...user };
}

async function mountFolders(built: BuiltModule): Promise<void> {
  const data = join(clusterFolder, "gitea");
  await ownFolder(data, user);
  await mountOnce(dirname(built.programs), folders.program);
  await mountOnce(data, folders.data);
}

async function writeConfig(path: string): Promise<void> {
  const secret = () => randomBytes(32).toString("base64url");
  const files = join(folders.program, "files");
  const content = giteaConfig({ data: folders.data, files, port: addresses.giteaPort, secret });
  await writeFile(path, content, { mode: 0o600 });
  await chown(path, user.uid, user.gid);
}

async function makeAdministrator(config: string): Promise<void> {
  const name = "local-admin";
  const identity = ["--username", name, "--email", "local-admin@example.test", "--admin"];
  // Gitea chooses the password: it accepts one only as an argument, which every user of the machine can read.
  const secret = ["--random-password", "--random-password-length", "24", "--must-change-password=false"];
  const { command, args, env, cwd } = giteaProgram(config, "admin", "user", "create", ...identity, ...secret);
  const options = { cwd: cwd ?? folders.data, env: { ...process.env, ...env }, ...user };
  const administrator = { name, password: passwordIn(await run(command, args, options)) };
  await writeFile(administratorFile, JSON.stringify(administrator), { mode: 0o600 });
}

/** The password in the output of `gitea admin user create --random-password` (cmd/admin_user_create.go). */
export function passwordIn(output: string): string {
  const password = /^generated random password is '(.+)'$/m.exec(output)?.[1];
  if (password === undefined) throw new Error("Gitea did not say which password it gave its administrator.");
  return password;
}

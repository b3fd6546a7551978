import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { addresses, gitHostUrl } from "../addresses.ts";
import type { ProcessSpec } from "../process.ts";
import { run } from "../run.ts";
import { type ClusterSite, runFolder } from "../site.ts";
import { mountOnce, ownFolder, programUsers } from "../unprivileged.ts";
import { giteaConfig, giteaUserName } from "./git-host-config.ts";
import { publishRepositories } from "./git-host-content.ts";
import { keepRunning, type Part } from "./part.ts";

/** Gitea refuses to run as root. */
const user = programUsers.gitea;

/** Where Gitea finds its program and its data: bind mounts, because its user may not enter root's folders. */
const folders = {
  program: join(runFolder, "git-host/program"),
  data: join(runFolder, "git-host/data"),
};

/** An account of the git host that may do everything on it. */
export interface GitHostAdministrator {
  readonly name: string;
  readonly password: string;
}

/** The file that the administrator's name and password are written to, in the cluster's folder. */
export function administratorFile(folder: string): string {
  return join(folder, "git-host-administrator.json");
}

/** Gitea with an organization `platform` and its repositories, readable by everybody on this machine. */
export const gitHostPart: Part = {
  name: "gitea",
  after: [],
  async start(site) {
    await mountFolders(site);
    const config = join(folders.data, "app.ini");
    if (!existsSync(config)) await writeConfig(config);
    await keepRunning(site, giteaProgram(config), answers);
    const administrator = await ensureAdministrator(site, config);
    await publishRepositories(administrator, site.repositories);
  },
};

function giteaProgram(config: string, ...args: string[]): ProcessSpec {
  const arguments_ = args.length > 0 ? args : ["web"];
  const command = join(folders.program, "programs/gitea");
  const env = { HOME: folders.data, USER: giteaUserName, GITEA_WORK_DIR: folders.data, TMPDIR: folders.data };
  return { name: "gitea", command, args: [...arguments_, "--config", config], env, cwd: folders.data, ...user };
}

async function mountFolders(site: ClusterSite): Promise<void> {
  const data = join(site.folder, "git-host");
  await ownFolder(data, user);
  await mountOnce(dirname(site.built.gitea.programs), folders.program);
  await mountOnce(data, folders.data);
}

async function writeConfig(path: string): Promise<void> {
  const secret = () => randomBytes(32).toString("base64url");
  const files = join(folders.program, "files");
  await writeFile(path, giteaConfig({ data: folders.data, files, port: addresses.gitHostPort, secret }), {
    mode: 0o600,
  });
  await chown(path, user.uid, user.gid);
}

/** The administrator of the git host; made when its password was not recorded yet. */
async function ensureAdministrator(site: ClusterSite, config: string): Promise<GitHostAdministrator> {
  const file = administratorFile(site.folder);
  if (existsSync(file)) return JSON.parse(await readFile(file, "utf8"));
  const name = "local-admin";
  const identity = ["--username", name, "--email", "local-admin@example.test", "--admin"];
  // Chosen by Gitea: arguments can be read by everybody on the machine, and it takes a password no other way.
  const secret = ["--random-password", "--random-password-length", "24", "--must-change-password=false"];
  const { command, args, env, cwd } = giteaProgram(config, "admin", "user", "create", ...identity, ...secret);
  const options = { cwd: cwd ?? folders.data, env: { ...process.env, ...env }, ...user };
  const administrator = { name, password: passwordIn(await run(command, args, options)) };
  await writeFile(file, JSON.stringify(administrator), { mode: 0o600 });
  return administrator;
}

/** The password in what `gitea admin user create --random-password` prints (cmd/admin_user_create.go). */
export function passwordIn(output: string): string {
  const password = /^generated random password is '(.+)'$/m.exec(output)?.[1];
  if (password === undefined) throw new Error("Gitea did not say which password it gave its administrator.");
  return password;
}

async function answers(): Promise<boolean> {
  return (await fetch(`${gitHostUrl}/api/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
}

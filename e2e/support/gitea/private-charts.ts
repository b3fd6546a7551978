import { administrator, remove, send } from "./gitea.ts";

/** A repository of Gitea with charts, readable only with a token. */
export interface PrivateCharts {
  readonly repoUrl: string;
  /** `user:token`, for reading it. */
  readonly credential: string;
}

/** Makes an organization of that name with the repository `charts`, whose branch `main` has these files, by path. */
export async function makePrivateCharts(
  origin: string,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<PrivateCharts> {
  const { name: user } = await administrator();
  const api = `${origin}/api/v1`;
  await send("POST", `${api}/orgs`, { username: name, visibility: "private" });
  const repository = { name: "charts", private: true, auto_init: true, default_branch: "main" };
  await send("POST", `${api}/orgs/${name}/repos`, repository);
  for (const [path, text] of Object.entries(files)) {
    const content = Buffer.from(text).toString("base64");
    await send("POST", `${api}/repos/${name}/charts/contents/${path}`, { content, branch: "main" });
  }
  const wish = { name, scopes: ["read:repository"] };
  const token = (await (await send("POST", `${api}/users/${user}/tokens`, wish)).json()) as { sha1: string };
  return { repoUrl: `${origin}/${name}/charts.git`, credential: `${user}:${token.sha1}` };
}

/** Takes away what is there of it, also when making it failed half-way. */
export async function removePrivateCharts(origin: string, name: string): Promise<void> {
  const { name: user } = await administrator();
  for (const path of [`repos/${name}/charts`, `orgs/${name}`, `users/${user}/tokens/${name}`]) {
    await remove(`${origin}/api/v1/${path}`);
  }
}

import { administrator, deadline, remove, send } from "./gitea.ts";
import { pushImage } from "./image.ts";

/** A repository of Gitea and an image in its registry, both readable only with a token. */
export interface PrivateComponent {
  readonly cloneUrl: string;
  /** Image without a tag; the tag is the commit. */
  readonly image: string;
  /** The head of `main`. */
  readonly commit: string;
  /** `user:token`, for reading both. */
  readonly credential: string;
  /** Moves a tag to an image that answers with this commit. */
  retag(tag: string, commit: string): Promise<void>;
  /** The registry's status for a request without a token. */
  anonymously(): Promise<number>;
}

/** Creates an organization of that name with the repository and the image `sample`, the sample's backend. */
export async function makePrivateComponent(origin: string, name: string): Promise<PrivateComponent> {
  const { name: user } = await administrator();
  const api = `${origin}/api/v1`;
  await send("POST", `${api}/orgs`, { username: name, visibility: "private" });
  const repository = { name: "sample", private: true, auto_init: true, default_branch: "main" };
  await send("POST", `${api}/orgs/${name}/repos`, repository);
  const branch = await send("GET", `${api}/repos/${name}/sample/branches/main`);
  const { id: commit } = ((await branch.json()) as { commit: { id: string } }).commit;
  const wish = { name, scopes: ["read:repository", "read:package"] };
  const token = (await (await send("POST", `${api}/users/${user}/tokens`, wish)).json()) as { sha1: string };
  const registry = `${origin}/v2/${name}/sample`;
  await pushImage(registry, commit);
  return {
    cloneUrl: `${origin}/${name}/sample.git`,
    image: `${new URL(origin).host}/${name}/sample`,
    commit,
    credential: `${user}:${token.sha1}`,
    retag: (tag, of) => pushImage(registry, tag, of),
    anonymously: async () => (await fetch(`${registry}/manifests/${commit}`, { signal: deadline() })).status,
  };
}

/** Removes all existing parts, also after a failed creation. */
export async function removePrivateComponent(origin: string, name: string): Promise<void> {
  const { name: user } = await administrator();
  const api = `${origin}/api/v1`;
  // An organization with a package or a repository can't be deleted.
  const made = [`packages/${name}/container/sample`, `repos/${name}/sample`, `orgs/${name}`];
  for (const path of [...made, `users/${user}/tokens/${name}`]) await remove(`${api}/${path}`);
}

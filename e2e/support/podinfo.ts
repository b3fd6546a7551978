import { join } from "node:path";
import { giteaUrl, remove } from "./gitea/gitea.ts";
import { pushImageOf } from "./gitea/image.ts";
import { stateFolder } from "./site.ts";

const laidOut = join(stateFolder, "cluster/podinfo");

/** The folder of podinfo's chart, as its author publishes it. */
export const podinfoChart = join(laidOut, "chart");

/** Pod Security requires a numeric user; that of podinfo's Dockerfile has a name. */
const common = { User: "65532:65532", Env: ["PATH=/usr/local/bin"] };
const CONFIGS = {
  podinfo: { ...common, WorkingDir: "/home/app", Cmd: ["./podinfo"] },
  redis: { ...common, WorkingDir: "/", Cmd: ["redis-server"] },
} as const;

/** The image of that name in the local git host's registry, without a tag. */
export const imageOf = (name: string) => `${new URL(giteaUrl).host}/shop/${name}`;

/** Pushes the image of podinfo, or of the Redis for its chart, as its pipeline would. */
export function pushProgram(program: keyof typeof CONFIGS, name: string, tag: string): Promise<void> {
  const image = { root: join(laidOut, program), config: CONFIGS[program] };
  return pushImageOf(`${giteaUrl}/v2/shop/${name}`, tag, image);
}

export const removeImage = (name: string) => remove(`${giteaUrl}/api/v1/packages/shop/container/${name}`);

import type { Settings } from "../../../../config/settings.ts";
import { pullRequestEnvironmentName } from "../../../../crds/environment/triggered-names.ts";
import type { ControllerDependencies } from "../../../../operator/controllers/index.ts";
import { type MemoryChat, type MemoryMail, memoryChat, memoryMail } from "../../doubles/memory/webhooks/messaging.ts";
import { activeHook, type Remembered, rememberingHost } from "../../doubles/memory/webhooks/remembering-host.ts";
import { shareSecret } from "../../fixtures/shared-secret.ts";
import type { World } from "../../worlds/environment-world.ts";

/** The hosts, chats and mail servers that receive reports on environments. They outlive every process. */
export interface Audience {
  readonly ports: Pick<ControllerDependencies, "pullRequestHost" | "pullRequestReader" | "hooks"> & {
    readonly chat: MemoryChat;
    readonly mail: MemoryMail;
  };
  /** Addresses of the chats, for the settings; grows with every Repository. */
  readonly channels: Settings["notifications"]["chat"]["webhooks"];
  prepare(): Promise<void>;
  /** Registers the Repository of a pull request for the environment of this name, with its own hook and chat channel. */
  register(environment: string): Promise<void>;
  /** The host's data of an environment's repository. */
  hostOf(environment: string): Remembered;
  posted(environment: string): readonly string[];
  /** The subjects of the e-mails to an environment's owner. */
  mailed(environment: string): readonly string[];
}

export const WEBHOOK_KEY = "the-key-of-webhooks-of-the-fault-suite";
/** Every repository has one pull request. */
export const PULL_REQUEST = 1;
const ENDING = pullRequestEnvironmentName("", PULL_REQUEST);
const HOST = "git";
const KEY_REF = { name: "webhook-key", key: "latest" };
export const AUDIENCE_SETTINGS = {
  hosts: [{ id: HOST, kind: "github", apiUrl: "https://git.test/api", token: { name: "host-token", key: "latest" } }],
  webhooks: { secrets: [KEY_REF] },
  notifications: { email: { smtp: { host: "mail.test", from: "platform@example.test" } } },
} as const;
/** The platform's public address, for worlds whose hosts have our hooks. */
export const PUBLIC_URL = "https://platform.test";
const HOOK = `${PUBLIC_URL}/api/webhooks/repohost`;
const CHAT = "https://chat.test/";

/** The environment of a repository's pull request. */
export const environmentOf = (repository: string): string => pullRequestEnvironmentName(repository, PULL_REQUEST);
/** The Repository of a pull request's environment; for another environment, its own name. */
export const repositoryOf = (environment: string): string =>
  environment.endsWith(ENDING) ? environment.slice(0, -ENDING.length) : environment;
export const fullNameOf = (environment: string): string => `shop/${repositoryOf(environment)}`;
export const addressOf = (environment: string): string => `${environment}@example.test`;
/** The environment of this chat address. */
export const environmentOfChat = (url: string): string => url.slice(CHAT.length);

export function createAudience({ admin, register }: Pick<World, "admin" | "register">): Audience {
  const host = rememberingHost();
  const [chat, mail] = [memoryChat(), memoryMail()];
  // Without a channel no message is created.
  const channels: Audience["channels"] = [{ channel: "unused", urlRef: { name: "unused", key: "latest" } }];
  return {
    ports: { pullRequestHost: host.reported, pullRequestReader: host.reader, hooks: host.hooks, chat, mail },
    channels,
    async prepare() {
      await shareSecret({ admin }, KEY_REF.name, WEBHOOK_KEY);
    },
    async register(environment) {
      const repository = repositoryOf(environment);
      channels.push({ channel: repository, urlRef: { name: environment, key: "latest" } });
      host.of(fullNameOf(environment)).hooks.push(activeHook(HOOK));
      await shareSecret({ admin }, environment, `${CHAT}${environment}`);
      await register(repository, {
        fullName: fullNameOf(environment),
        host: HOST,
        pullRequest: { enabled: true },
        notify: { chatChannel: repository },
      });
    },
    hostOf: (environment) => host.of(fullNameOf(environment)),
    posted: (environment) =>
      chat.posted.flatMap(({ url, text }) => (environmentOfChat(url) === environment ? [text] : [])),
    mailed: (environment) => mail.sent.flatMap(({ to, subject }) => (to === addressOf(environment) ? [subject] : [])),
  };
}

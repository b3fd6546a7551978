import { type Application, buildApplication, buildRouteMap, text_en } from "@stricli/core";
import { login, logout, whoami } from "./commands/account.ts";
import { api } from "./commands/api.ts";
import { completion } from "./commands/completion.ts";
import { configSet } from "./commands/config-set.ts";
import { costs } from "./commands/costs.ts";
import { cleanup } from "./commands/environment/cleanup.ts";
import { create } from "./commands/environment/create.ts";
import { remove } from "./commands/environment/delete.ts";
import { extend } from "./commands/environment/extend.ts";
import { get } from "./commands/environment/get.ts";
import { list } from "./commands/environment/list.ts";
import { logs } from "./commands/environment/logs.ts";
import { open } from "./commands/environment/open.ts";
import { reconcile } from "./commands/environment/reconcile.ts";
import { resetDatabase } from "./commands/environment/reset-database.ts";
import { protect, sleep, unprotect, wake } from "./commands/environment/switches.ts";
import { update } from "./commands/environment/update.ts";
import { wait } from "./commands/environment/wait.ts";
import { mcp } from "./commands/mcp.ts";
import { repo } from "./commands/repo.ts";
import { status } from "./commands/status.ts";
import { token } from "./commands/token.ts";
import { version } from "./commands/version.ts";
import { webhook } from "./commands/webhook.ts";
import type { Context } from "./context.ts";
import { exitCodeOf, sentenceOf } from "./failure.ts";
import { plain } from "./output/plain.ts";
import { VERSION } from "./version.ts";

const root = buildRouteMap<string, Context>({
  routes: {
    create,
    list,
    get,
    wait,
    logs,
    open,
    extend,
    sleep,
    wake,
    protect,
    unprotect,
    update,
    reconcile,
    "reset-database": resetDatabase,
    delete: remove,
    cleanup,
    token,
    "config-set": configSet,
    repo,
    webhook,
    costs,
    status,
    api,
    login,
    logout,
    whoami,
    mcp,
    completion,
    version,
  },
  aliases: { ls: "list" },
  docs: {
    brief: "Temporary, complete copies of an application",
    fullDescription:
      "Temporary, complete copies of an application.\n\nEENV_URL says where the platform is, EENV_TOKEN who you are; eenv login remembers both.",
  },
});

const said = (error: unknown) => `eenv: ${plain(sentenceOf(error))}`;

/** All commands. */
export const application: Application<Context> = buildApplication(root, {
  name: "eenv",
  versionInfo: { currentVersion: VERSION },
  scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
  documentation: { caseStyle: "convert-camel-to-kebab", useAliasInUsageLine: false, onlyRequiredInUsageLine: true },
  determineExitCode: exitCodeOf,
  localization: { text: { ...text_en, exceptionWhileRunningCommand: said } },
});

/** Inputs of Gitea's configuration. */
export interface GiteaSettings {
  /** Folder of the database and repositories. */
  readonly data: string;
  /** Folder of the templates and options of this version. */
  readonly files: string;
  readonly port: number;
  readonly secret: () => string;
}

/** The name of Gitea's user, taken from the environment because no account has its number. */
export const giteaUserName = "gitea";

/**
 * Gitea's app.ini: SQLite, loopback only, an image registry beside the repositories, no SSH, no outside resources, no mail,
 * no background work. Webhooks may call programs on this machine. Workflows are recorded and reported by webhooks but never
 * run. https://docs.gitea.com/administration/config-cheat-sheet
 */
export function giteaConfig({ data, files, port, secret }: GiteaSettings): string {
  return `APP_NAME = Local git host
RUN_USER = ${giteaUserName}
RUN_MODE = prod
WORK_PATH = ${data}

[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${files}
APP_DATA_PATH = ${data}/data
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false

[database]
DB_TYPE = sqlite3
PATH = ${data}/gitea.db
SQLITE_JOURNAL_MODE = WAL

[security]
INSTALL_LOCK = true
SECRET_KEY = ${secret()}
# The cheapest hash: the administrator's password is random and never leaves the machine.
PASSWORD_HASH_ALGO = pbkdf2_v1

[oauth2]
ENABLED = false

[repository]
ROOT = ${data}/repositories
ENABLE_PUSH_CREATE_ORG = true
DEFAULT_PUSH_CREATE_PRIVATE = false

[service]
DISABLE_REGISTRATION = true

[webhook]
ALLOWED_HOST_LIST = loopback

[indexer]
ISSUE_INDEXER_TYPE = db

[cron]
ENABLED = false

[cron.update_checker]
ENABLED = false

[actions]
ENABLED = true
DEFAULT_ACTIONS_URL = self

[packages]
ENABLED = true

[federation]
ENABLED = false

[picture]
DISABLE_GRAVATAR = true

[log]
MODE = console
LEVEL = warn
`;
}

// Written from api/openapi.json by clients/sdk/generate.ts: run 'make generate' after a change.

export type ApproveCommit = {
  /** The head commit that may have an environment; a later one needs an approval of its own. */
  readonly commit: string;
};

export type Budget = {
  /** Budget of a month (UTC). null: the installation sets no limit. */
  readonly limit: number | null;
  /** Costs of this month so far. null: nothing is known. */
  readonly used: number | null;
  /** The share of the limit that is used. null: no limit, or nothing is known. */
  readonly used_percent: number | null;
  /** at_risk: the projection for this month is above the limit. none: there is no limit. */
  readonly state: "none" | "ok" | "at_risk" | "exceeded" | "unknown";
};

export type ChangedEnvironment = {
  /** `opened` comes first: a list that is read from now on has all that changed before. `changed`: made or changed. `removed`: gone, or not visible any more. */
  readonly type: "opened" | "changed" | "removed";
  /** The environment's id; not with `opened`. */
  readonly id?: string;
  /** The environment's name; not with `opened`. */
  readonly name?: string;
  readonly environment?: ListedEnvironmentReport;
};

/** The chart that its environments are made with; backend repositories only. */
export type ChartSource = {
  /** A git repository, a Helm repository, or an OCI registry (oci://…). */
  readonly repo_url: string;
  /** The folder in the git repository; the name of the chart in a Helm repository or an OCI registry. */
  readonly path: string;
  /** A branch, tag or commit, or {commit}: the commit of the environment's backend; the version in a Helm repository or an OCI registry. */
  readonly revision: string;
};

export type ChartTemplate = {
  readonly chart: ChartSource;
  /** The values; config_overrides.helm_values may change some of them. */
  readonly values: {
    readonly [name: string]: unknown;
  };
  /** The values as YAML, as helm reads it. */
  readonly values_yaml: string;
  /** The variables of the pods. */
  readonly variables: readonly (TemplateVariable)[];
};

export type CircuitBreaker = {
  /** The service, and its use. */
  readonly name: string;
  /** `closed`: calls go through. `open`: the service did not answer, and the next call tries it. `half_open`: one call tries it, and all others fail at once. */
  readonly state: "closed" | "open" | "half_open";
  /** ISO 8601, UTC. */
  readonly since: string;
};

export type CleanedEnvironment = {
  readonly id: string;
  readonly name: string;
};

export type CleanupError = {
  readonly id: string;
  /** The error. */
  readonly detail: string;
};

export type CleanupRequest = {
  /** Reports what would be deleted, and deletes nothing. */
  readonly dry_run?: boolean;
  /** Only environments that have been failed for this many hours. */
  readonly older_than_hours?: number;
  /** Also environments whose update failed while the former version still runs, or sleeps. */
  readonly include_running?: boolean;
};

export type ConfigSet = {
  /** Name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** True for the one of environments that name none. */
  readonly is_default: boolean;
  /** Rises with every change; an environment keeps the version that it was created with. */
  readonly version: number;
  /** True: no environment may use it. */
  readonly production: boolean;
  readonly helm_values: {
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly backend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly frontend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
  };
  /** Variables of every component; those of helm_values and of the environment's overrides win. */
  readonly env: readonly (ConfigSetVariable)[];
  /** Variables for environments that ask with use_shared_api_keys; everything else of that name wins. */
  readonly shared_api_keys: readonly (SharedApiKey)[];
  readonly database: {
    /** The default for environments that don't set it. */
    readonly enabled?: boolean;
    /** The database program. */
    readonly engine?: "postgresql";
    /** The version of the engine; that of the settings when left out. */
    readonly version?: string;
    /** Size of the volume in GiB; that of the settings when left out. */
    readonly size_gi?: number;
    readonly seed?: DatabaseSeed;
    /** Statements that hide personal data in copies of databases: run in one transaction by the role that owns the copy, before anything can connect. They apply to every copy of a database of this config set, and to copies for its environments. One that fails leaves no copy. */
    readonly mask?: readonly (string)[];
  };
  /** The quota of an environment's namespace; the installation's default for fields that are left out. */
  readonly quota: {
    readonly cpu?: string;
    readonly memory?: string;
    readonly storage?: string;
    /** Number of pods. */
    readonly pods?: number;
  };
  /** The default for environments that don't set it. */
  readonly ttl_default_hours?: number;
  readonly sleep?: SleepRequest;
  /** The groups whose members may use it; everyone when empty. */
  readonly access: {
    /** Groups of the identity provider whose members have access. */
    readonly groups: readonly (string)[];
  };
  /** Number of environments that use it. */
  readonly used_by: number;
  /** Creator; `manifest` when it was not created through this interface. */
  readonly created_by: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
};

/** The whole content: a field that is left out is removed. */
export type ConfigSetContent = {
  /** The one that it has: it can't be changed. */
  readonly name?: string;
  /** Purpose of the config set, for people. */
  readonly description?: string;
  /** True: no environment may use it. */
  readonly production?: boolean;
  readonly helm_values?: {
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly backend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly frontend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
  };
  /** Variables of every component; those of helm_values and of the environment's overrides win. */
  readonly env?: readonly (ConfigSetVariable)[];
  /** Variables for environments that ask with use_shared_api_keys; everything else of that name wins. */
  readonly shared_api_keys?: readonly (SharedApiKey)[];
  readonly database?: {
    /** The default for environments that don't set it. */
    readonly enabled?: boolean;
    /** The database program. */
    readonly engine?: "postgresql";
    /** The version of the engine; that of the settings when left out. */
    readonly version?: string;
    /** Size of the volume in GiB; that of the settings when left out. */
    readonly size_gi?: number;
    readonly seed?: DatabaseSeed;
    /** Statements that hide personal data in copies of databases: run in one transaction by the role that owns the copy, before anything can connect. They apply to every copy of a database of this config set, and to copies for its environments. One that fails leaves no copy. */
    readonly mask?: readonly (string)[];
  };
  /** The quota of an environment's namespace; the installation's default for fields that are left out. */
  readonly quota?: {
    readonly cpu?: string;
    readonly memory?: string;
    readonly storage?: string;
    /** Number of pods. */
    readonly pods?: number;
  };
  /** The default for environments that don't set it. */
  readonly ttl_default_hours?: number;
  readonly sleep?: SleepRequest;
  /** The groups whose members may use it; everyone when empty. */
  readonly access?: {
    /** Groups of the identity provider whose members have access. */
    readonly groups: readonly (string)[];
  };
};

export type ConfigSetPage = {
  readonly items: readonly (ConfigSet)[];
  /** Number of items on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type ConfigSetRemoved = {
  readonly message: string;
};

export type ConfigSetRequest = {
  /** Unique; a DNS label that starts with a letter, without '--'. */
  readonly name: string;
  /** Purpose of the config set, for people. */
  readonly description?: string;
  /** True: no environment may use it. */
  readonly production?: boolean;
  readonly helm_values?: {
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly backend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
    /** Values of the chart below this component. Values that the platform sets always win. */
    readonly frontend?: {
      /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
      readonly env?: {
        readonly [name: string]: VariableValue;
      };
      readonly replicas?: number;
      readonly resources?: {
        readonly requests?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
        readonly limits?: {
          readonly cpu?: string;
          readonly memory?: string;
        };
      };
      readonly [name: string]: unknown;
    };
  };
  /** Variables of every component; those of helm_values and of the environment's overrides win. */
  readonly env?: readonly (ConfigSetVariable)[];
  /** Variables for environments that ask with use_shared_api_keys; everything else of that name wins. */
  readonly shared_api_keys?: readonly (SharedApiKey)[];
  readonly database?: {
    /** The default for environments that don't set it. */
    readonly enabled?: boolean;
    /** The database program. */
    readonly engine?: "postgresql";
    /** The version of the engine; that of the settings when left out. */
    readonly version?: string;
    /** Size of the volume in GiB; that of the settings when left out. */
    readonly size_gi?: number;
    readonly seed?: DatabaseSeed;
    /** Statements that hide personal data in copies of databases: run in one transaction by the role that owns the copy, before anything can connect. They apply to every copy of a database of this config set, and to copies for its environments. One that fails leaves no copy. */
    readonly mask?: readonly (string)[];
  };
  /** The quota of an environment's namespace; the installation's default for fields that are left out. */
  readonly quota?: {
    readonly cpu?: string;
    readonly memory?: string;
    readonly storage?: string;
    /** Number of pods. */
    readonly pods?: number;
  };
  /** The default for environments that don't set it. */
  readonly ttl_default_hours?: number;
  readonly sleep?: SleepRequest;
  /** The groups whose members may use it; everyone when empty. */
  readonly access?: {
    /** Groups of the identity provider whose members have access. */
    readonly groups: readonly (string)[];
  };
};

/** A variable with a value, or with a reference to where the secret manager has it. */
export type ConfigSetVariable = {
  readonly name: string;
  /** Plain text, readable for all users of the config set. */
  readonly value?: string;
  /** A secret of the secret manager that is shared with the environment. */
  readonly secret_ref?: {
    readonly name: string;
    /** A version, or latest: the newest when the environment is made. A version may also be sent as a number. */
    readonly key: string;
  };
};

export type CostAnalysis = {
  readonly period: Period;
  /** ISO 4217. */
  readonly currency: string;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  readonly coverage: CostCoverage;
  readonly group_by: "repository" | "creator" | "config_set" | "trigger";
  /** The rows add up to the whole. */
  readonly groups: readonly (CostRow)[];
  readonly waste: {
    /** Number of recommendations below. */
    readonly environments: number;
    /** The sum of what could be saved by them. */
    readonly saving: number;
    readonly saving_cents: number;
    /** Number of environments, by the reason. */
    readonly by_reason: {
      readonly failed: number;
      readonly unchanged: number;
      readonly protected: number;
    };
  };
  readonly forecast: {
    /** Expected costs of this month (UTC), as in the summary of the costs. null: nothing is known. */
    readonly projected_month: number | null;
    readonly budget: Budget;
  };
  /** The environments of the caller's view that could cost less, the greatest saving first. */
  readonly recommendations: readonly (Recommendation)[];
};

export type CostCoverage = {
  /** Share of the environments' time in the period with known costs. null: there were none. */
  readonly known_percent: number | null;
  /** Share of the environments' time in the period with costs that OpenCost allocated. null: there were none. */
  readonly allocated_percent: number | null;
};

export type CostDashboard = {
  readonly summary: CostSummary;
  /** Days of the window from the first day with known data; they add up to the whole. */
  readonly timeseries: readonly (CostOfDay)[];
  /** The most expensive of the environments and records that the caller may see; ten at most. */
  readonly top_environments: readonly (CostOfEnvironment)[];
  /** By the repository of the backend; the rows add up to the whole. */
  readonly by_repository: readonly (CostRow)[];
  /** By creator; below maintainers only the caller is named; the rows add up to the whole. */
  readonly by_creator: readonly (CostRow)[];
  /** By config set; the rows add up to the whole. */
  readonly by_config_set: readonly (CostRow)[];
  readonly budget: Budget;
};

export type CostOfDay = {
  /** The day, in UTC; of a week its Monday. */
  readonly date: string;
  /** Costs of that day. null: nothing is known. */
  readonly total_cost: number | null;
  /** The same in hundredths of the currency. null: nothing is known. */
  readonly total_cents: number | null;
};

export type CostOfEnvironment = {
  readonly id: string;
  readonly name: string;
  /** null: it is gone. */
  readonly status: string | null;
  /** Id of the repository of its backend. */
  readonly repository: string | null;
  /** Costs in the window. */
  readonly total_cost: number;
  readonly total_cents: number;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  readonly coverage: CostCoverage;
};

export type CostRow = {
  /** null: none, or all that are not named. */
  readonly id: string | null;
  /** none: environments without any, such as those without a config set. other: the sum of those that the caller may not see, and of the least. */
  readonly kind: "named" | "none" | "other";
  /** Costs of its environments. null: nothing is known. */
  readonly total_cost: number | null;
  /** The same in hundredths of the currency. null: nothing is known. */
  readonly total_cents: number | null;
  /** Environments that were created in the window. */
  readonly created: number;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  readonly coverage: CostCoverage;
};

export type CostSummary = {
  /** ISO 4217. */
  readonly currency: string;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  readonly window: Period;
  /** Costs of all environments together in the window. null: nothing is known. */
  readonly total_cost: number | null;
  /** The same in hundredths of the currency. null: nothing is known. */
  readonly total_cents: number | null;
  readonly by_resource: {
    /** CPU. null: nothing is known. */
    readonly cpu: number | null;
    /** Memory. null: nothing is known. */
    readonly memory: number | null;
    /** Volumes. null: nothing is known. */
    readonly storage: number | null;
    /** Costs that only OpenCost knows: GPUs, network, load balancers. null: nothing is known. */
    readonly other: number | null;
  };
  /** Environments at the end of the window. */
  readonly active_environments: number;
  /** Average of the environments in the window. null: there were none, or nothing is known. */
  readonly average_cost_per_environment: number | null;
  /** Expected costs of this month (UTC): those so far, and the rest like the average of the last seven days, or of their known part. null: nothing is known. */
  readonly projected_month: number | null;
  readonly previous_window: {
    /** Costs of the preceding time of the same length. null: nothing is known. */
    readonly total_cost: number | null;
    /** Rise of the costs. null: nothing to compare with. */
    readonly change_percent: number | null;
  };
  readonly coverage: CostCoverage;
};

export type Coverage = {
  /** Begin of the counts of requests, webhooks and reconciles; null: none yet. */
  readonly requests_since: string | null;
  /** Longest time whose counts a killed process loses, unless the Kubernetes API was unavailable before. A stopped process loses nothing, nor do figures from resources. */
  readonly lost_by_a_kill_seconds: number;
};

export type CreateEnvironmentReportRequest = {
  /** Unique; a DNS label that starts with a letter, without '--', not reserved. */
  readonly environment_name: string;
  /** Id of a registered repository. */
  readonly backend_repo: string;
  /** Git branch: whatever git takes, 244 bytes of UTF-8 at most, without invisible characters. */
  readonly backend_branch: string;
  /** Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created. */
  readonly backend_commit?: string;
  /** Id of a registered repository. */
  readonly frontend_repo?: string;
  /** Git branch, as backend_branch; the repository's default branch when empty. */
  readonly frontend_branch?: string;
  /** Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created. */
  readonly frontend_commit?: string;
  /** Hours from creation to deletion. When left out: the default of the config set that is named, if it has one, else 24. */
  readonly ttl?: number;
  /** A PostgreSQL of its own; as the config set says, else none, when left out. */
  readonly provision_database?: boolean;
  /** False: config_overrides gives every secret of the Repositories, as text or by secretKeyRef. */
  readonly auto_generate_secrets?: boolean;
  /** Adds the shared API keys of the config set to the variables of the pods. */
  readonly use_shared_api_keys?: boolean;
  /** Id of a config set; the default one, if there is one, when left out. */
  readonly config_set?: string;
  readonly config_overrides?: {
    readonly helm_values?: {
      /** Any other value of the chart only where the Repository lists its path as overridable. */
      readonly backend?: {
        /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
        readonly env?: {
          readonly [name: string]: VariableValue;
        };
        readonly replicas?: number;
        readonly resources?: {
          readonly requests?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
          readonly limits?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
        };
        readonly [name: string]: unknown;
      };
      /** Any other value of the chart only where the Repository lists its path as overridable. */
      readonly frontend?: {
        /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
        readonly env?: {
          readonly [name: string]: VariableValue;
        };
        readonly replicas?: number;
        readonly resources?: {
          readonly requests?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
          readonly limits?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
        };
        readonly [name: string]: unknown;
      };
    };
  };
  readonly database_seed?: DatabaseSeed;
  /** Name or id of an environment. The environment whose database the new one is a copy of: taken once by its role, masked, and complete before anything else starts. It has to have a database and to be awake, and everyone who may see the copy has to be allowed to see it. */
  readonly database_from?: string;
  readonly sleep?: SleepRequest;
};

export type CreateEnvironmentRequest = {
  /** Unique; a DNS label that starts with a letter, without '--', not reserved. */
  readonly environment_name: string;
  /** Id of a registered repository. */
  readonly backend_repo: string;
  /** Git branch: whatever git takes, 244 bytes of UTF-8 at most, without invisible characters. */
  readonly backend_branch: string;
  /** Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created. */
  readonly backend_commit?: string;
  /** Id of a registered repository. */
  readonly frontend_repo?: string;
  /** Git branch, as backend_branch; the repository's default branch when empty. */
  readonly frontend_branch?: string;
  /** Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created. */
  readonly frontend_commit?: string;
  /** Hours from creation to deletion. When left out: the default of the config set that is named, if it has one, else 24. */
  readonly ttl?: number;
  /** A PostgreSQL of its own; as the config set says, else none, when left out. */
  readonly provision_database?: boolean;
  /** False: config_overrides gives every secret of the Repositories, as text or by secretKeyRef. */
  readonly auto_generate_secrets?: boolean;
  /** Adds the shared API keys of the config set to the variables of the pods. */
  readonly use_shared_api_keys?: boolean;
  /** Id of a config set; the default one, if there is one, when left out. */
  readonly config_set?: string;
  readonly config_overrides?: {
    readonly helm_values?: {
      /** Any other value of the chart only where the Repository lists its path as overridable. */
      readonly backend?: {
        /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
        readonly env?: {
          readonly [name: string]: VariableValue;
        };
        readonly replicas?: number;
        readonly resources?: {
          readonly requests?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
          readonly limits?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
        };
        readonly [name: string]: unknown;
      };
      /** Any other value of the chart only where the Repository lists its path as overridable. */
      readonly frontend?: {
        /** By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager. */
        readonly env?: {
          readonly [name: string]: VariableValue;
        };
        readonly replicas?: number;
        readonly resources?: {
          readonly requests?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
          readonly limits?: {
            readonly cpu?: string;
            readonly memory?: string;
          };
        };
        readonly [name: string]: unknown;
      };
    };
  };
};

export type CreatedEnvironment = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly ttl_hours: number;
};

export type CreatedEnvironmentReport = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly ttl_hours: number;
  readonly cost: EnvironmentCost;
};

export type CreatedToken = {
  readonly id: string;
  readonly name: string;
  /** Empty when none was given. */
  readonly description: string;
  /** Rights of the token, as far as its owner has them; as given in the request. */
  readonly scopes: readonly ("ENV_CREATE" | "ENV_READ" | "CONFIG_READ" | "CONFIG_WRITE" | "environments:create" | "environments:read")[];
  /** Beginning of the token. */
  readonly token_prefix: string;
  readonly status: TokenStatus;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** null: never. */
  readonly expires_at: string | null;
  /** To the minute; null: not yet. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly owner: TokenOwner;
  /** The token itself, to be sent after `Bearer ` in the Authorization header. */
  readonly token: string;
};

export type Creator = {
  readonly email: string;
  readonly name: string;
};

export type CurrentUser = {
  /** Issuer and subject of the identity, which decide on ownership. */
  readonly id: string;
  /** Empty when the identity provider gives none that is verified. */
  readonly email: string;
  readonly name: string;
  readonly roles: readonly ("viewer" | "developer" | "maintainer" | "admin")[];
  /** With an API token those of its owner that its scopes let through. */
  readonly permissions: readonly ("environments:read" | "configs:read" | "repos:read" | "observability:read" | "insights:read" | "environments:create" | "environments:update" | "environments:delete" | "tokens:manage" | "environments:all" | "configs:write" | "repos:reload" | "webhooks:manage" | "tokens:all")[];
  readonly groups: readonly (string)[];
  readonly auth_method: "id_token" | "api_token";
  /** null with an ID token. */
  readonly scopes: readonly ("ENV_CREATE" | "ENV_READ" | "CONFIG_READ" | "CONFIG_WRITE" | "environments:create" | "environments:read")[] | null;
  /** null with an ID token. */
  readonly token_id: string | null;
  /** null: never. */
  readonly token_expires_at: string | null;
};

/** Seed of the database; that of the config set, else of the Repository, when left out. */
export type DatabaseSeed = {
  /** The image that has the file, with a tag or a digest; nothing of it is run. Nodes pull it without the credentials of Repositories. */
  readonly image?: string;
  /** backend: the file is in the git repository of the backend, at the commit of the environment, and has 1 MiB at most. The platform reads it with the credential of the Repository. */
  readonly git?: "backend";
  /** The file in the image or the repository, such as /seed/data.sql. */
  readonly path: string;
  /** sql: statements for psql, also compressed as .gz; dump: an archive of pg_dump -Fc for pg_restore. */
  readonly format: "sql" | "dump";
};

export type DemoDashboard = {
  /** Marks demo data. */
  readonly demo: true;
  readonly period: Period;
  readonly environments: {
    /** Created in the period. */
    readonly created: number;
    /** Deleted in it by request. */
    readonly deleted: number;
    /** Deleted in it because they had expired. */
    readonly expired: number;
    /** Created in it, and failed before they were ready. */
    readonly failed: number;
    /** There at its end. */
    readonly active: number;
  };
  /** Between 0 and 1: of the created environments that became ready or failed, the share that became ready. null: there was none in the period. */
  readonly success_rate: number | null;
  /** Of the environments deleted in the period, from creation to the request of the deletion. null: there was none in the period. */
  readonly average_lifetime_hours: number | null;
  /** Of the environments created in the period, from creation to ready. null: there was none in the period. */
  readonly average_provision_seconds: number | null;
  /** The most that were there at the same time. */
  readonly peak_concurrent: number;
  /** People who created one in the period. */
  readonly active_users: number;
  /** Costs of all environments together in the period. null: nothing is known. */
  readonly total_cost: number | null;
  /** The same in hundredths of the currency. */
  readonly total_cost_cents: number | null;
  /** ISO 4217. */
  readonly currency: string;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly cost_basis: "requests" | "opencost" | "mixed";
  readonly cost_coverage: CostCoverage;
  /** Repositories with the most creations, of those that the caller may see; ten at most. */
  readonly top_repositories: readonly (TopRepository)[];
  readonly trends: readonly (Trend)[];
};

export type Environment = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly ttl_hours: number;
  readonly creator: Creator;
  readonly repositories: {
    readonly backend: EnvironmentSource;
    readonly frontend?: EnvironmentSource;
  };
  readonly cluster: {
    readonly namespace: string;
    readonly deployer_app: string;
  };
  readonly configuration: {
    readonly config_set: string;
    readonly database_provisioned: boolean;
    readonly auto_generated_secrets: boolean;
  };
};

export type EnvironmentAnalytics = {
  readonly period: Period;
  /** Days of the period from the first day with known data. */
  readonly series: readonly (EnvironmentDay)[];
  /** Current environments. */
  readonly by_status: {
    readonly creating: number;
    readonly building: number;
    readonly updating: number;
    readonly ready: number;
    readonly failed: number;
    readonly terminating: number;
  };
  /** By the repository of the backend; the rows add up to the whole. */
  readonly by_repository: readonly (EnvironmentGroup)[];
  /** Created in the period, by what made them; kubectl: nothing else is known. */
  readonly by_trigger: {
    readonly api: number;
    readonly pull_request: number;
    readonly pipeline: number;
    readonly manifest: number;
    readonly canary: number;
    readonly kubectl: number;
  };
  /** By config set; the rows add up to the whole. */
  readonly by_config_set: readonly (EnvironmentGroup)[];
  readonly ttl: {
    /** Of the environments that were created in the period and are still known. null: there was none in the period. */
    readonly average_hours: number | null;
    /** Half of them have no longer TTL. null: there was none in the period. */
    readonly median_hours: number | null;
    /** The longest TTL of them. null: there was none in the period. */
    readonly longest_hours: number | null;
  };
  /** Reasons of failures among the environments that were created in the period and are still known, the most frequent first; twenty at most. */
  readonly failure_reasons: readonly (FailureReason)[];
  /** Ready environments that were not changed for two days, of those that the caller may see; twenty at most. */
  readonly stale: readonly (StaleEnvironment)[];
};

export type EnvironmentCondition = {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** Stable, for programs. */
  readonly reason: string;
  /** The cause and what to do about it, for people. */
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly last_transition_time: string;
};

export type EnvironmentCost = {
  /** ISO 4217. */
  readonly currency: string;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  /** Expected costs of its TTL: by the average cost of an hour of environments of the same repository in the last 30 days. null: nothing is known. */
  readonly estimate: number | null;
  /** Costs so far. null: nothing is known. */
  readonly actual: number | null;
  /** Cost of an hour of its current requests. null: nothing is known. */
  readonly per_hour: number | null;
  /** Expected costs until its expiry, if nothing changes. null: it never expires, or nothing is known. */
  readonly forecast: number | null;
  /** From when on its requests are known. null: nothing is known. */
  readonly since: string | null;
  readonly coverage: CostCoverage;
};

export type EnvironmentDay = {
  /** The day, in UTC; of a week its Monday. */
  readonly date: string;
  readonly created: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly deleted: number;
  readonly expired: number;
};

export type EnvironmentEvent = {
  readonly event_type?: "created" | "ready" | "failed" | "updated" | "deleted";
  /** Id, as the sender knows it. */
  readonly environment_id?: string;
  /** Name. */
  readonly environment_name?: string;
  /** Status. */
  readonly status?: string;
  /** Not read. */
  readonly user_email?: string;
  /** A repository. */
  readonly repository?: string;
  /** A branch. */
  readonly branch?: string;
  /** A commit. */
  readonly commit_sha?: string;
  readonly urls?: {
    /** Not read. */
    readonly backend?: string;
    /** Not read. */
    readonly frontend?: string;
    /** Not read. */
    readonly argocd?: string;
    readonly [name: string]: unknown;
  };
  readonly metadata?: {
    readonly ttl_hours?: number;
    /** Not read. */
    readonly config_set?: string;
    readonly [name: string]: unknown;
  };
  readonly [name: string]: unknown;
};

export type EnvironmentEventReceipt = {
  readonly status: "received";
  readonly message: string;
  /** The channels that were notified; empty while none is configured for unverified events. */
  readonly notifications_sent: readonly (string)[];
};

export type EnvironmentGroup = {
  /** null: none, or all that are not named. */
  readonly id: string | null;
  /** other: the sum of what the caller may not see, and of the least. */
  readonly kind: "named" | "none" | "other";
  readonly created: number;
  readonly deleted: number;
  readonly failed: number;
  /** Between 0 and 1. null: there was none in the period. */
  readonly success_rate: number | null;
  /** Of the environments deleted in the period. null: there was none in the period. */
  readonly average_lifetime_hours: number | null;
};

export type EnvironmentLifetime = {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly ttl_hours: number;
};

export type EnvironmentLogs = {
  readonly component: "backend" | "frontend" | "argocd";
  /** The oldest first; of all pods and containers, and of the runs before. */
  readonly logs: readonly (LogEntry)[];
  /** Number of entries in this answer. */
  readonly total_lines: number;
};

export type EnvironmentLogsReport = {
  readonly component: "backend" | "frontend" | "argocd";
  /** The oldest first; of all pods and containers, and of the runs before. */
  readonly logs: readonly (LogEntry)[];
  /** Number of entries in this answer. */
  readonly total_lines: number;
  /** Requested workload, as kind/name; null: the component. */
  readonly workload: string | null;
};

export type EnvironmentProgress = {
  /** Number of finished steps. */
  readonly done: number;
  /** Number of known steps: none before the first reconcile. */
  readonly total: number;
  /** The type of the first condition that is not True; null when all are. */
  readonly waiting_for: string | null;
};

export type EnvironmentReport = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentReportUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly updated_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly ttl_hours: number;
  readonly creator: Creator;
  readonly repositories: {
    readonly backend: EnvironmentSource;
    readonly frontend?: EnvironmentSource;
  };
  readonly cluster: {
    readonly namespace: string;
    readonly deployer_app: string;
  };
  readonly configuration: {
    readonly config_set: string;
    readonly database_provisioned: boolean;
    readonly auto_generated_secrets: boolean;
  };
  readonly protected: boolean;
  /** End of the protection; an environment that is expired by then is deleted. null: it is not protected, or without end. */
  readonly protected_until: string | null;
  readonly suspended: boolean;
  /** The seed that its database was made with; null: none, or not yet. */
  readonly database_seed: {
    /** The image that has the file, with a tag or a digest; nothing of it is run. Nodes pull it without the credentials of Repositories. */
    readonly image?: string;
    /** backend: the file is in the git repository of the backend, at the commit of the environment, and has 1 MiB at most. The platform reads it with the credential of the Repository. */
    readonly git?: "backend";
    /** The file in the image or the repository, such as /seed/data.sql. */
    readonly path: string;
    /** sql: statements for psql, also compressed as .gz; dump: an archive of pg_dump -Fc for pg_restore. */
    readonly format: "sql" | "dump";
    /** The commit that its file is of, where that is in git. */
    readonly commit?: string;
  } | null;
  /** Name of the environment that its database is a copy of; null: none, or not yet. */
  readonly database_from: string | null;
  /** Sleep by a schedule or by idleness; null: it never sleeps, or is suspended. */
  readonly sleep: {
    /** waking: it does not answer yet. */
    readonly state: "awake" | "asleep" | "waking";
    /** ISO 8601, UTC. */
    readonly since: string;
    /** Cause of the state; person: one woke it; request: one to a host of it did; null: it has been awake since its creation, without hours. */
    readonly cause: "schedule" | "idle" | "person" | "request" | null;
    /** Time of the next change, if it is known; activity moves it. */
    readonly next_at: string | null;
    /** Its hours, if it has any. */
    readonly schedule: {
      /** An IANA name; its changes of the clock count. */
      readonly time_zone: string;
      /** The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day. */
      readonly awake: readonly (string)[];
    } | null;
    /** null: idleness does not let it sleep. */
    readonly after_idle_minutes: number | null;
    /** The requests within five minutes that count as activity, if they are said. */
    readonly minimum_requests: number | null;
    /** Last known activity, up to five minutes late, where idleness lets it sleep. */
    readonly last_activity_at: string | null;
  } | null;
  /** The GitOps tool that keeps the environment as its manifest in Git has it; null: none. */
  readonly managed_by: "argocd" | "flux" | null;
  /** True when `status` and `conditions` describe the current request; false from a change on until the operator has seen it. */
  readonly observed: boolean;
  /** Progress of each step; Ready sums them up; Suspended, Asleep, PipelineSilent, SourceGone and ExpiryRefused exist only while they are true. */
  readonly conditions: readonly (EnvironmentCondition)[];
  readonly cost: EnvironmentCost;
};

export type EnvironmentReportUrls = {
  readonly backend: string;
  /** Absent without a frontend. */
  readonly frontend?: string;
  /** The further hosts of the backend's repository, by name, as the operator saw them last; absent without any. */
  readonly hosts?: {
    readonly [name: string]: string;
  };
};

export type EnvironmentSource = {
  readonly repo: string;
  readonly branch: string;
  readonly commit: string;
};

export type EnvironmentStatus = "creating" | "building" | "updating" | "ready" | "failed" | "terminating";

export type EnvironmentUrls = {
  readonly backend: string;
  /** Absent without a frontend. */
  readonly frontend?: string;
};

export type ExtendEnvironmentRequest = {
  /** Hours from creation to deletion. */
  readonly ttl_hours: number;
  /** Reason; kept for the audit trail. */
  readonly description?: string;
};

export type ExtensionReport = {
  /** The environment that the link is for. */
  readonly environment_name: string;
  /** Time of the expiry. */
  readonly expires_at: string;
  /** TTL. */
  readonly ttl_hours: number;
  /** Time of the expiry after the extension; after it the same as `expires_at`. */
  readonly extended_until: string;
  /** True when this call extended it. */
  readonly extended: boolean;
};

export type FailureReason = {
  /** Stable, for programs. */
  readonly reason: string;
  readonly environments: number;
};

/** A variable whose value is generated for each environment. */
export type GeneratedSecret = {
  readonly name: string;
  readonly kind: "password" | "key" | "token" | "uuid";
  readonly length: number;
};

/** Any JSON value. Of an object these are read: event, event_type, source, message. */
export type GenericEvent = unknown;

export type Health = {
  readonly status: "healthy";
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly version: string;
  readonly service: string;
};

export type HookProblem = {
  /** A stable word. */
  readonly reason: string;
  /** The problem. */
  readonly message: string;
  /** The remedy. */
  readonly next_step: string;
};

export type InsightsDashboard = {
  readonly period: Period;
  readonly environments: {
    /** Created in the period. */
    readonly created: number;
    /** Deleted in it by request. */
    readonly deleted: number;
    /** Deleted in it because they had expired. */
    readonly expired: number;
    /** Created in it, and failed before they were ready. */
    readonly failed: number;
    /** There at its end. */
    readonly active: number;
  };
  /** Between 0 and 1: of the created environments that became ready or failed, the share that became ready. null: there was none in the period. */
  readonly success_rate: number | null;
  /** Of the environments deleted in the period, from creation to the request of the deletion. null: there was none in the period. */
  readonly average_lifetime_hours: number | null;
  /** Of the environments created in the period, from creation to ready. null: there was none in the period. */
  readonly average_provision_seconds: number | null;
  /** The most that were there at the same time. */
  readonly peak_concurrent: number;
  /** People who created one in the period. */
  readonly active_users: number;
  /** Costs of all environments together in the period. null: nothing is known. */
  readonly total_cost: number | null;
  /** The same in hundredths of the currency. */
  readonly total_cost_cents: number | null;
  /** ISO 4217. */
  readonly currency: string;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly cost_basis: "requests" | "opencost" | "mixed";
  readonly cost_coverage: CostCoverage;
  /** Repositories with the most creations, of those that the caller may see; ten at most. */
  readonly top_repositories: readonly (TopRepository)[];
  readonly trends: readonly (Trend)[];
};

export type ListedEnvironment = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly creator: Creator;
};

export type ListedEnvironmentReport = {
  readonly id: string;
  readonly name: string;
  readonly status: EnvironmentStatus;
  readonly urls: EnvironmentReportUrls;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** ISO 8601, UTC. */
  readonly expires_at: string;
  readonly creator: Creator;
  readonly protected: boolean;
  /** End of the protection; an environment that is expired by then is deleted. null: it is not protected, or without end. */
  readonly protected_until: string | null;
  readonly suspended: boolean;
  /** Sleep by a schedule or by idleness; null: it never sleeps, or is suspended. */
  readonly sleep: {
    /** waking: it does not answer yet. */
    readonly state: "awake" | "asleep" | "waking";
    /** ISO 8601, UTC. */
    readonly since: string;
    /** Cause of the state; person: one woke it; request: one to a host of it did; null: it has been awake since its creation, without hours. */
    readonly cause: "schedule" | "idle" | "person" | "request" | null;
    /** Time of the next change, if it is known; activity moves it. */
    readonly next_at: string | null;
    /** Its hours, if it has any. */
    readonly schedule: {
      /** An IANA name; its changes of the clock count. */
      readonly time_zone: string;
      /** The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day. */
      readonly awake: readonly (string)[];
    } | null;
    /** null: idleness does not let it sleep. */
    readonly after_idle_minutes: number | null;
    /** The requests within five minutes that count as activity, if they are said. */
    readonly minimum_requests: number | null;
    /** Last known activity, up to five minutes late, where idleness lets it sleep. */
    readonly last_activity_at: string | null;
  } | null;
  readonly repositories: {
    readonly backend: EnvironmentSource;
    readonly frontend?: EnvironmentSource;
  };
  readonly progress: EnvironmentProgress;
};

export type LogEntry = {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** TRACE, DEBUG, INFO, WARN, ERROR or FATAL; INFO where the line names none. */
  readonly level: string;
  /** Values of the environment's secrets are masked as ***. */
  readonly message: string;
};

export type LoginOptions = {
  /** Issuers whose settings permit log-ins of programs; none: programs need an API token. */
  readonly issuers: readonly ({
    /** The OpenID Connect issuer; `/.well-known/openid-configuration` below it has its endpoints. */
    readonly issuer: string;
    /** The id of a public client: it has no secret. */
    readonly client_id: string;
    /** `loopback`: authorization code with PKCE, coming back to 127.0.0.1 at any port; `device`: the device authorization grant. The first one unless the user chooses. */
    readonly flows: readonly ("loopback" | "device")[];
    /** Scopes to request. */
    readonly scopes: readonly (string)[];
  })[];
  /** The web console; null when there is none. */
  readonly console_url: string | null;
};

export type MappedChartTemplate = {
  readonly chart: ChartSource;
  /** The values; config_overrides.helm_values may change some of them. */
  readonly values: {
    readonly [name: string]: unknown;
  };
  /** The values as YAML, as helm reads it. */
  readonly values_yaml: string;
  /** The variables of the pods. */
  readonly variables: readonly (TemplateVariable)[];
  readonly mapping: ValuesMapping;
};

/** Events, and the recipients of their messages. */
export type NotificationRules = {
  /** null: none of its own. */
  readonly chat_channel: string | null;
  readonly on: readonly ("created" | "ready" | "failed" | "updated" | "deleted" | "pipeline")[];
};

export type PasswordResetReply = {
  readonly message: string;
};

export type PasswordResetRequest = {
  /** Address for the link, if there is such an account. */
  readonly email: string;
};

export type Period = {
  /** ISO 8601, UTC. */
  readonly from: string;
  /** ISO 8601, UTC. */
  readonly to: string;
};

/** The event as its host sends it; fields that are not named here are ignored. */
export type PipelineEvent = {
  /** pipeline; other kinds are ignored. */
  readonly object_kind: string;
  readonly object_attributes: {
    readonly id: number;
    /** running, success, failed, canceled */
    readonly status: string;
    /** Cause of the run, in GitLab's words: the Repository's spec.pipeline.events decide whether it counts. */
    readonly source?: string;
    /** Page for people. */
    readonly url?: string;
    /** Time of its begin. */
    readonly created_at?: string;
    readonly finished_at?: string | null;
    readonly [name: string]: unknown;
  };
  readonly project: {
    readonly id?: number;
    /** Name. */
    readonly name?: string;
    readonly path_with_namespace: string;
    /** Address. */
    readonly web_url?: string;
    readonly [name: string]: unknown;
  };
  readonly commit?: {
    readonly id: string;
    /** First line. */
    readonly title?: string;
    /** All of it. */
    readonly message?: string;
    readonly [name: string]: unknown;
  };
  readonly builds?: readonly ({
    readonly [name: string]: unknown;
  })[];
  readonly [name: string]: unknown;
};

export type PipelineReceipt = {
  readonly status: "processed";
  /** Outcome, or the reason without one. */
  readonly message: string;
  readonly actions_taken: readonly ("environment_created" | "environment_updated" | "environment_deleted")[];
};

/** Rules for environments of pipelines. */
export type PipelineRules = {
  readonly create_on_success: boolean;
  readonly on_canceled: "own" | "any" | "ignore";
};

export type PipelineWebhookTest = {
  readonly status: "ok";
  readonly message: string;
  /** True when a token is configured; never the token itself. */
  readonly configured: boolean;
  /** Address for the host's events. */
  readonly endpoint: string;
  readonly required_headers: readonly (string)[];
  readonly supported_statuses: readonly ("running" | "success" | "failed" | "canceled")[];
  /** Time of the last one that the caller may see; null: none is stored. */
  readonly last_received_at: string | null;
};

export type PlatformMetrics = {
  readonly period: Period;
  readonly environments: {
    /** Current environments. */
    readonly total: number;
    readonly by_status: {
      readonly creating: number;
      readonly building: number;
      readonly updating: number;
      readonly ready: number;
      readonly failed: number;
      readonly terminating: number;
    };
  };
  readonly provisioning: {
    /** Environments that were created in the period and became ready. */
    readonly count: number;
    /** Half of them were ready within this time. null: there was none in the period. */
    readonly p50_seconds: number | null;
    /** 95 of 100 were. null: there was none in the period. */
    readonly p95_seconds: number | null;
    /** Environments that were created in the period, failed, and were never ready. */
    readonly failures: number;
  };
  readonly teardown: {
    /** 95 of 100 environments that went in the period were gone within this time. null: there was none in the period. */
    readonly p95_seconds: number | null;
    /** Environments that have been deleting for more than ten minutes. */
    readonly stuck: number;
  };
  readonly expiry: {
    /** Environments that expire within 24 hours, or have expired. */
    readonly pending_24h: number;
    /** The longest time from an expiry in the period to the request to delete the environment. */
    readonly max_lateness_seconds: number;
  };
  readonly webhooks: {
    /** Webhooks of hosts. */
    readonly received: number;
    /** Deliveries that were acted on or are pending. */
    readonly processed: number;
    /** Deliveries that need no action. */
    readonly ignored: number;
    /** Repeated deliveries. */
    readonly duplicates: number;
    /** Deliveries that were answered with a status of 500 or more. */
    readonly failed: number;
    /** Deliveries without a known sender, or malformed. */
    readonly refused: number;
    /** Stored deliveries that wait for their outcome now. */
    readonly queue_depth: number;
    /** 95 of 100 were answered within this time. null: there was none in the period. */
    readonly p95_ms: number | null;
  };
  readonly reconcile: {
    /** Environments whose latest change no reconcile has answered yet. */
    readonly queue_depth: number;
    /** 95 of 100 reconciles took no longer. null: there was none in the period. */
    readonly p95_ms: number | null;
    /** Reconciles that ended with an error. */
    readonly errors: number;
  };
  readonly coverage: Coverage;
};

export type PlatformStatus = {
  /** `degraded`: the three services are healthy, but replicas count requests separately, or a circuit breaker is not closed. */
  readonly status: "healthy" | "degraded" | "unhealthy";
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly version: string;
  readonly services: {
    readonly datastore: {
      readonly healthy: boolean;
      /** ISO 8601, UTC. */
      readonly last_check: string;
      /** Milliseconds. */
      readonly response_time_ms: number;
    };
    readonly cache: {
      readonly healthy: boolean;
      /** ISO 8601, UTC. */
      readonly last_check: string;
      /** Milliseconds. */
      readonly response_time_ms: number;
      readonly memory_usage: string;
      /** Greatest age of what is read from the cache: under a minute in general, growing while the datastore can't be reached. Absent before everything was read once. */
      readonly age_seconds?: number;
      /** Request counters that replicas share. Absent without one. */
      readonly redis?: "up" | "down";
    };
    readonly deployer: {
      readonly healthy: boolean;
      /** ISO 8601, UTC. */
      readonly last_check: string;
      readonly applications_synced: number;
    };
  };
  /** Circuit breakers of the replica that answers: one for each use of an external secret manager. Empty with the embedded one. */
  readonly circuit_breakers: readonly (CircuitBreaker)[];
  /** True when more environments are due at once than may be deleted unconfirmed: none is deleted until fewer are due, or an admin confirms. */
  readonly expirations_blocked: boolean;
};

export type Problem = {
  /** The error, for people. */
  readonly detail: string;
  readonly status_code: number;
  readonly error_code?: "ENV_NAME_EXISTS" | "ENV_NOT_FOUND" | "ENV_CREATION_FAILED" | "ENV_TTL_EXCEEDED" | "ENV_REPO_NOT_FOUND" | "ENV_CONFIG_INVALID";
  /** Violations, one of each field, in the order of `detail`, which has them in one sentence. In version 2 alone, and only where parts of the request are wrong. */
  readonly violations?: readonly ({
    /** A field of the body, a query parameter, a parameter of the path or a header: its path, with dots. Empty: no single one. */
    readonly field: string;
    /** Violation, to be read after the field's name. */
    readonly message: string;
  })[];
  /** ISO 8601, UTC. */
  readonly timestamp: string;
};

/** Pull requests that get environments. */
export type PullRequestRules = {
  readonly enabled: boolean;
  readonly create_on: readonly ("opened" | "reopened" | "synchronize" | "ready_for_review" | "labeled")[];
  readonly delete_on: readonly ("closed" | "merged")[];
  readonly skip_draft: boolean;
  readonly required_labels: readonly (string)[];
  /** RE2, for the whole name of the head branch; null: every branch. */
  readonly branch_pattern: string | null;
  /** null: as the config set says, else 24. */
  readonly ttl_hours: number | null;
  /** null: the default one, if there is one. */
  readonly config_set: string | null;
  readonly forks: "deny" | "approve";
};

export type Readiness = {
  readonly status: "ready" | "not ready";
  readonly checks: {
    readonly datastore: "healthy" | "unhealthy";
    readonly cache: "healthy" | "unhealthy";
    readonly deployer: "healthy" | "unhealthy";
  };
  /** ISO 8601, UTC. */
  readonly timestamp: string;
};

export type Recommendation = {
  readonly environment: {
    readonly id: string;
    readonly name: string;
  };
  /** failed: it failed and runs on. unchanged: it is ready, and was not changed for two days. protected: it was not changed for a week, and it never expires. */
  readonly reason: "failed" | "unchanged" | "protected";
  readonly action: "delete" | "suspend" | "unprotect";
  /** For people. */
  readonly message: string;
  /** Expected costs until its expiry; of a protected one, in 30 days. Volumes of a suspended one still cost. */
  readonly saving: number;
  readonly saving_cents: number;
};

export type Repository = {
  /** Name. */
  readonly id: string;
  readonly name: string;
  readonly type: "backend" | "frontend";
  /** Kind of its host; null: not set. */
  readonly provider: "repohost" | "pipelinehost" | null;
  /** Number at the host; null: not set. */
  readonly host_id: string | null;
  /** Name at the host, with the owner's; null: not set. */
  readonly full_name: string | null;
  /** Never with credentials. */
  readonly clone_url: string;
  readonly default_branch: string;
  readonly chart?: ChartSource;
  readonly image: {
    readonly repository: string;
    /** {commit}, {commit:N}, {mergeCommit}, {mergeCommit:N}, {short}, {branch}, {pullRequest} and {pipeline} stand for what is deployed. */
    readonly tag_template: string;
  };
  readonly port: number;
  readonly health_path: string;
  readonly secrets: readonly (GeneratedSecret)[];
  /** Paths of the chart's values that config_overrides may name, beside env, replicas and resources. */
  readonly overridable: readonly (string)[];
  /** The repository that completes environments of its pull requests. */
  readonly companion_repo: string | null;
  /** null: any number. */
  readonly max_environments: number | null;
  /** The groups whose members may use it; everyone when empty. */
  readonly access: {
    readonly groups: readonly (string)[];
  };
  readonly pull_request: PullRequestRules;
  readonly pipeline: PipelineRules;
  readonly notify: NotificationRules;
  /** True when its host answered at the last check; null: not checked yet. */
  readonly reachable: boolean | null;
  /** null: not checked yet. */
  readonly last_checked_at: string | null;
};

/** A hook that delivers to the service, or did under another address. */
export type RepositoryHook = {
  /** As the host numbers it. */
  readonly id: string;
  /** Without a query and credentials. */
  readonly address: string;
  /** True for the right address. */
  readonly here: boolean;
  /** inactive: switched off by a person; paused: by the host, after failures. */
  readonly state: "active" | "inactive" | "paused";
  /** Events that it sends, as the host names them. */
  readonly events: readonly (string)[];
  /** null: none lately, or the host does not report them. */
  readonly last_delivery: {
    /** null: the host does not report it. */
    readonly at: string | null;
    /** The service's answer, as the host words it. */
    readonly answer: string;
    readonly accepted: boolean;
  } | null;
};

/** The event as its host sends it; fields that are not named here are ignored. */
export type RepositoryHostEvent = {
  /** Action of a pull request. */
  readonly action?: string;
  readonly number?: number;
  readonly pull_request?: {
    readonly id?: number;
    readonly number: number;
    /** Title. */
    readonly title?: string;
    readonly body?: string | null;
    readonly state: "open" | "closed";
    readonly head: {
      readonly ref: string;
      readonly sha: string;
      readonly [name: string]: unknown;
    };
    readonly base: {
      readonly ref: string;
      readonly sha: string;
      readonly [name: string]: unknown;
    };
    readonly user?: {
      readonly login: string;
      /** Not read. */
      readonly email?: string;
      readonly [name: string]: unknown;
    };
    readonly [name: string]: unknown;
  };
  readonly repository?: {
    /** Name. */
    readonly name?: string;
    readonly full_name: string;
    /** Not read. */
    readonly clone_url?: string;
    readonly [name: string]: unknown;
  };
  readonly [name: string]: unknown;
};

export type RepositoryHostReceipt = {
  readonly status: "processed" | "pong";
  /** Outcome, or the reason without one. */
  readonly message: string;
  readonly environment_created?: boolean;
  /** Empty when no environment was touched. */
  readonly environment_id?: string;
};

export type RepositoryPage = {
  readonly items: readonly (Repository)[];
  /** Number of items on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type RepositoryReload = {
  /** Number of valid ones. */
  readonly loaded: number;
  /** Valid now, and absent at the reload before. */
  readonly added: readonly (string)[];
  /** Valid now, and changed since the reload before. */
  readonly updated: readonly (string)[];
  /** No longer registered. */
  readonly removed: readonly (string)[];
  /** Repositories with an error; they stay as they were. */
  readonly errors: readonly ({
    readonly id: string;
    readonly message: string;
  })[];
};

export type RepositoryWebhook = {
  /** The repository's id. */
  readonly repository: string;
  /** null: the repository names none, or the settings lack it or its token. */
  readonly host: {
    readonly id: string;
    readonly kind: string;
  } | null;
  /** Right address of its hook; null: the settings lack the service's address. */
  readonly address: string | null;
  readonly hooks: readonly (RepositoryHook)[];
  /** The newest stored delivery of the repository; null: none is stored. */
  readonly last_received: {
    readonly id: string;
    readonly event_name: string;
    /** ISO 8601, UTC. */
    readonly received_at: string;
  } | null;
  /** Problems; none: events arrive. */
  readonly problems: readonly (HookProblem)[];
};

/** Verdict of a rule on the event. */
export type RuleVerdict = {
  /** null: it is about none in particular. */
  readonly repository: string | null;
  readonly rule: string;
  readonly passed: boolean;
  /** Reason; null: nothing to add. */
  readonly message: string | null;
};

export type ServiceLevelObjective = {
  readonly id: string;
  readonly description: string;
  /** The share that has to be good. */
  readonly target: number;
  readonly good: number;
  readonly total: number;
  /** The share that was good; null: no events. */
  readonly availability: number | null;
  readonly error_budget: {
    /** Rest of the error budget; below 0 when more was bad. null: no events. */
    readonly remaining_percent: number | null;
  };
  readonly burn_rate: {
    /** Use of the error budget in the last 1 h as a multiple of the allowed rate; null: too few events. */
    readonly h1: number | null;
    /** Use of the error budget in the last 6 h as a multiple of the allowed rate; null: too few events. */
    readonly h6: number | null;
  };
  /** at_risk: less than a quarter of the error budget is left, or it is used up faster than allowed. */
  readonly state: "met" | "at_risk" | "breached" | "no_data";
};

export type ServiceLevels = {
  readonly window: Period;
  readonly objectives: readonly (ServiceLevelObjective)[];
  /** The worst of them. */
  readonly overall: "met" | "at_risk" | "breached" | "no_data";
  readonly coverage: Coverage;
};

export type SharedApiKey = {
  readonly name: string;
  /** A secret of the secret manager that is shared with the environment. */
  readonly secret_ref: {
    readonly name: string;
    /** A version, or latest: the newest when the environment is made. A version may also be sent as a number. */
    readonly key: string;
  };
};

export type SimulateWebhook = {
  /** Id of a registered repository. */
  readonly repository: string;
  /** Name, as the host sends it in a header. */
  readonly event: string;
  /** The event as its host would send it. */
  readonly payload: {
    readonly [name: string]: unknown;
  };
};

export type SkippedEnvironment = {
  readonly id: string;
  readonly name: string;
  /** Reason for not deleting it. */
  readonly reason: string;
};

export type SleepCandidate = {
  readonly id: string;
  readonly name: string;
  /** Expected saving in the next seven days, or until the expiry, if that is sooner. */
  readonly saving: number;
  readonly saving_cents: number;
};

export type SleepDay = {
  /** The day, in UTC; of a week its Monday. */
  readonly date: string;
  /** Hours asleep, of all environments together. */
  readonly asleep_hours: number;
  /** Saving of their sleep. null: nothing is known. */
  readonly saved: number | null;
  /** The same in hundredths of the currency. */
  readonly saved_cents: number | null;
};

export type SleepGroup = {
  /** null: none, or all that are not named. */
  readonly id: string | null;
  /** other: the sum of what the caller may not see, and of the least. */
  readonly kind: "named" | "none" | "other";
  /** Hours asleep, of all environments together. */
  readonly asleep_hours: number;
  /** Saving of their sleep. null: nothing is known. */
  readonly saved: number | null;
  /** The same in hundredths of the currency. */
  readonly saved_cents: number | null;
};

export type SleepInsights = {
  readonly period: Period;
  /** ISO 4217. */
  readonly currency: string;
  readonly asleep: {
    /** Hours in which environments were asleep or suspended, of all together. */
    readonly hours: number;
    /** Share of the time in which environments existed. null: there was none in the period. */
    readonly percent: number | null;
    readonly by_cause: {
      /** By their schedule. */
      readonly schedule: number;
      /** Because they were not used. */
      readonly idle: number;
      /** Suspended by a person. */
      readonly person: number;
    };
  };
  /** The price of what pods and volumes requested when they were last awake, less that of what they requested asleep: both by the prices of the installation, also where OpenCost allocates costs. */
  readonly saved: {
    /** Saving of all sleep. null: nothing slept whose requests are known. */
    readonly total: number | null;
    /** The same in hundredths of the currency. */
    readonly total_cents: number | null;
    /** Share of the hours asleep for which the saving is known. null: there was none in the period. */
    readonly known_percent: number | null;
  };
  readonly group_by: "repository" | "creator" | "config_set" | "trigger";
  /** Groups that slept; the hours add up to the whole, but for rounding. */
  readonly groups: readonly (SleepGroup)[];
  readonly series: readonly (SleepDay)[];
  /** Saving by the assumed schedule, of the ready environments of the caller's view whose sleep is undecided: no schedule, no idle time, no wish to stay awake, no suspension. A share of CPU and memory by the hours of a week; their use is not known. */
  readonly possible: {
    /** Hours of the assumed schedule, in whatever time zone. */
    readonly assumed_awake: string;
    /** Number of such environments. */
    readonly environments: number;
    /** Expected saving in the next seven days, or until the expiry, if that is sooner. */
    readonly saving: number;
    readonly saving_cents: number;
    /** Environments with the greatest saving; twenty at most. */
    readonly greatest: readonly (SleepCandidate)[];
  };
};

/** Outside the hours of the schedule, and when it was idle, the environment is scaled to zero; secrets and data stay. An empty object: it never sleeps. When the field is left out, the default counts: that of the config set, of the backend's repository, or of the platform. */
export type SleepRequest = {
  readonly schedule?: SleepSchedule;
  /** It sleeps after so long without activity: requests, updates, and people who read its logs. While requests are not known to the platform, nothing is idle. */
  readonly after_idle_minutes?: number;
  /** The requests within five minutes that count as activity, 1 when left out: more than a monitor sends, which would keep it awake. Only beside `after_idle_minutes`. */
  readonly minimum_requests?: number;
};

export type SleepSchedule = {
  /** An IANA name; its changes of the clock count. */
  readonly time_zone: string;
  /** The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day. */
  readonly awake: readonly (string)[];
};

export type StaleEnvironment = {
  readonly id: string;
  readonly name: string;
  /** Id of the repository of its backend. */
  readonly repository: string | null;
  /** Since its last change, or its creation. */
  readonly unchanged_hours: number;
  /** null: it never expires. */
  readonly expires_at: string | null;
};

export type TemplateVariable = {
  readonly name: string;
  readonly component: "backend" | "frontend";
  /** True when an environment needs it. */
  readonly required: boolean;
  /** True when its value is kept in the secret manager, and shown nowhere. */
  readonly secret: boolean;
  /** Source of the value: generated; a shared API key, with use_shared_api_keys; the config set; or config_overrides alone. */
  readonly source: "auto" | "shared" | "config_set" | "override";
  /** The value without overrides; null: none to show; `***`: hidden, because the variable is a secret of another repository. */
  readonly default: string | null;
};

export type Token = {
  readonly id: string;
  readonly name: string;
  /** Empty when none was given. */
  readonly description: string;
  /** Rights of the token, as far as its owner has them; as given in the request. */
  readonly scopes: readonly ("ENV_CREATE" | "ENV_READ" | "CONFIG_READ" | "CONFIG_WRITE" | "environments:create" | "environments:read")[];
  /** Beginning of the token. */
  readonly token_prefix: string;
  readonly status: TokenStatus;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** null: never. */
  readonly expires_at: string | null;
  /** To the minute; null: not yet. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly owner: TokenOwner;
};

export type TokenList = {
  readonly items: readonly (Token)[];
  /** Number of items on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type TokenOwner = {
  readonly email: string;
  readonly name: string;
};

export type TokenRequest = {
  /** A name for people; need not be unique. */
  readonly name: string;
  readonly description?: string;
  /** Rights of the token, as far as its owner has them; as given in the request. */
  readonly scopes: readonly ("ENV_CREATE" | "ENV_READ" | "CONFIG_READ" | "CONFIG_WRITE" | "environments:create" | "environments:read")[];
  /** The token is good for ever when left out. */
  readonly expires_in_days?: number;
};

export type TokenStatus = "active" | "expired" | "revoked";

export type TokenValue = {
  readonly id: string;
  /** The token itself. */
  readonly value: string;
};

export type TopRepository = {
  readonly id: string;
  /** Created in the period. */
  readonly environments: number;
};

export type TouchedEnvironment = {
  readonly id: string;
  readonly name: string;
  readonly action: "created" | "updated" | "deleted";
};

export type Trend = {
  /** The day, in UTC; of a week its Monday. */
  readonly date: string;
  readonly created: number;
  /** By request or expiry. */
  readonly deleted: number;
  readonly failed: number;
};

/** A field that is left out, or null, stays as it is. */
export type UpdateEnvironmentRequest = {
  /** Refuses deletion and expiry: without end when a maintainer protects, else until 168 hours after the expiry. A protection without end is removed by maintainers alone. */
  readonly protected?: boolean;
  /** Scales everything to zero while true; secrets and data stay. false also wakes an environment that its schedule, or idleness, has asleep; outside its hours it then stays awake until the end of the next ones. */
  readonly suspended?: boolean;
  readonly sleep?: SleepRequest;
  /** Git branch that the backend moves to; its head, unless a commit is sent, too. */
  readonly backend_branch?: string;
  /** Commit SHA that the backend moves to. Empty: the head of its branch, read anew. A short one of 7 digits or more stands for that head and for no other commit. */
  readonly backend_commit?: string;
  /** Git branch that the frontend moves to; its head, unless a commit is sent, too. */
  readonly frontend_branch?: string;
  /** Commit SHA that the frontend moves to. Empty: the head of its branch, read anew. A short one of 7 digits or more stands for that head and for no other commit. */
  readonly frontend_commit?: string;
  /** Moves the environment to the current version of its config set: `current`, or that version's number, which is refused once there is a newer one. */
  readonly config_set_version?: number | "current";
};

export type UrlCheck = {
  readonly environment_id: string;
  /** healthy when all are, unreachable when none answered, else unhealthy. */
  readonly status: "healthy" | "unhealthy" | "unreachable";
  readonly details: {
    readonly backend: UrlHealth;
    readonly frontend?: UrlHealth;
  };
  /** Time of the probes; the results are answered for 10 seconds. */
  readonly checked_at: string;
};

export type UrlCheckReport = {
  readonly environment_id: string;
  /** healthy when all are, unreachable when none answered, else unhealthy. */
  readonly status: "healthy" | "unhealthy" | "unreachable";
  readonly details: {
    readonly backend: UrlHealth;
    readonly frontend?: UrlHealth;
    /** The further hosts of the backend's repository, by name; absent without any. */
    readonly hosts?: {
      readonly [name: string]: UrlHealth;
    };
  };
  /** Time of the probes; the results are answered for 10 seconds. */
  readonly checked_at: string;
};

export type UrlHealth = {
  readonly url: string;
  /** healthy: 2xx or 3xx; unhealthy: another answer; unreachable: none within 5 seconds. */
  readonly status: "healthy" | "unhealthy" | "unreachable";
  /** 0 for a URL that nothing serves yet. */
  readonly response_time_ms: number;
};

export type User = {
  /** `<issuer>#<sub>`. */
  readonly id: string;
  /** Empty when it is not known. */
  readonly email: string;
  /** Empty when it is not known. */
  readonly name: string;
  /** Environments that they created in the period. */
  readonly created: number;
  /** Number of their current environments. */
  readonly active_environments: number;
  /** Costs of their environments in the period. null: nothing is known. */
  readonly total_cost: number | null;
  /** requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other. */
  readonly basis: "requests" | "opencost" | "mixed";
  readonly coverage: CostCoverage;
  /** Time of their last creation, if it is known. */
  readonly last_created_at: string | null;
};

export type UserActivity = {
  readonly period: Period;
  /** Known creators of environments; below maintainers all figures here are the caller's alone. */
  readonly total_users: number;
  /** Number of them that created one in the period. */
  readonly active_users: number;
  /** People with environments in the period, the most active first, 150 at most; below maintainers the caller alone. */
  readonly users: readonly (User)[];
  readonly series: readonly (UserDay)[];
};

export type UserDay = {
  /** The day, in UTC; of a week its Monday. */
  readonly date: string;
  readonly active_users: number;
};

/** Template of the values: YAML with references `${…}`. Both null: the platform's own layout. */
export type ValuesMapping = {
  /** As the chart of the repository, or of the settings, says; null: it says nothing. */
  readonly chart: string | null;
  /** As the config set says, over those of the chart; null: it says nothing. */
  readonly config_set: string | null;
};

export type VariableReference = {
  /** A secret of the secret manager that is shared with the environment. */
  readonly secretKeyRef: {
    readonly name: string;
    /** A version, or latest: the newest when the environment is made. A version may also be sent as a number. */
    readonly key: string;
  };
};

export type VariableText = string;

/** Text, or where the secret manager has it. */
export type VariableValue = VariableText | VariableReference;

export type WebhookDecision = {
  readonly do: "create" | "update" | "delete" | "wait" | "report" | "nothing";
  /** A stable word. */
  readonly reason: string;
  /** null: nothing to add. */
  readonly message: string | null;
  /** Name of the environment; null: none, or none that the caller may see. */
  readonly environment: string | null;
};

export type WebhookDelivery = {
  /** The id under which it is stored. */
  readonly id: string;
  /** The endpoint that received it. */
  readonly source: "repohost" | "pipelinehost" | "generic" | "environment" | "approval" | "refetch";
  /** The id of its host in the settings; null: the contract's own headers. */
  readonly host: string | null;
  /** As the host names it; null: it gave none. */
  readonly delivery_id: string | null;
  /** As the host names it. */
  readonly event_name: string;
  readonly event: "pull_request" | "push" | "pipeline" | "merge_group" | "approval" | "ping" | "other";
  /** Action of a pull request. */
  readonly action: string | null;
  /** Number of a pull request. */
  readonly number: number | null;
  /** Reported commit. */
  readonly commit: string | null;
  /** True when a signature or a token was checked. */
  readonly verified: boolean;
  /** Ids of the repositories whose key verified it. */
  readonly repositories: readonly (string)[];
  /** ISO 8601, UTC. */
  readonly received_at: string;
  /** null: it is pending. */
  readonly finished_at: string | null;
  readonly status: "pending" | "acted" | "ignored" | "failed";
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  readonly environments: readonly (TouchedEnvironment)[];
};

export type WebhookDeliveryPage = {
  readonly items: readonly (WebhookDelivery)[];
  /** Number of items on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type WebhookDeliveryReport = {
  /** The id under which it is stored. */
  readonly id: string;
  /** The endpoint that received it. */
  readonly source: "repohost" | "pipelinehost" | "generic" | "environment" | "approval" | "refetch";
  /** The id of its host in the settings; null: the contract's own headers. */
  readonly host: string | null;
  /** As the host names it; null: it gave none. */
  readonly delivery_id: string | null;
  /** As the host names it. */
  readonly event_name: string;
  readonly event: "pull_request" | "push" | "pipeline" | "merge_group" | "approval" | "ping" | "other";
  /** Action of a pull request. */
  readonly action: string | null;
  /** Number of a pull request. */
  readonly number: number | null;
  /** Reported commit. */
  readonly commit: string | null;
  /** True when a signature or a token was checked. */
  readonly verified: boolean;
  /** Ids of the repositories whose key verified it. */
  readonly repositories: readonly (string)[];
  /** ISO 8601, UTC. */
  readonly received_at: string;
  /** null: it is pending. */
  readonly finished_at: string | null;
  readonly status: "pending" | "acted" | "ignored" | "failed";
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  readonly environments: readonly (TouchedEnvironment)[];
  /** The rules in the order of their evaluation. */
  readonly trace: readonly (RuleVerdict)[];
  /** Content of an unverified event. */
  readonly note: string | null;
};

export type WebhookOutcome = {
  /** The id under which it is stored. */
  readonly delivery: string | null;
  readonly outcome: "acted" | "ignored" | "pending" | "duplicate";
  /** A stable word. */
  readonly reason: string;
  readonly message: string;
  readonly environments: readonly (TouchedEnvironment)[];
  readonly trace: readonly (RuleVerdict)[];
};

export type WebhookReceipt = {
  readonly status: "received";
  readonly message: string;
  readonly webhook_id: string;
};

export type WebhookSimulation = {
  /** Type of the event, in the platform's words. */
  readonly event: "pull_request" | "push" | "pipeline" | "merge_group" | "approval" | "ping" | "other";
  readonly decisions: readonly (WebhookDecision)[];
  /** The rules in the order of their evaluation. */
  readonly trace: readonly (RuleVerdict)[];
};

export type Workload = {
  /** As the chart has it: a Deployment, not its ReplicaSet. */
  readonly kind: string;
  readonly name: string;
  /** Component of its pods: backend, frontend, or a backing service such as database; null: none of them. */
  readonly component: string | null;
  /** Desired number of pods; of a Job the number that have to succeed, of a CronJob the number that run now; null: of a kind that the platform does not know. */
  readonly pods_desired: number | null;
  /** Number of ready pods; of a Job the number that succeeded. */
  readonly pods_ready: number;
  /** Restarts of containers of its current pods. */
  readonly restarts: number;
  /** The images of its pods, as it names them. */
  readonly images: readonly (string)[];
  /** Problem and remedy; null: no problem is known. */
  readonly problem: string | null;
};

/** Input and output of each operation. */
export interface Operations {
  /** List configuration sets */
  readonly "GET /api/v2/config-sets": {
    readonly query?: {
      /** Size of the page; default 50, maximum 100. */
      readonly limit?: number;
      /** Number of results to skip; default 0. */
      readonly offset?: number;
    };
    readonly reply: ConfigSetPage;
  };
  /** Create a configuration set */
  readonly "POST /api/v2/config-sets": {
    readonly body: ConfigSetRequest;
    readonly reply: ConfigSet;
  };
  /** Get a configuration set */
  readonly "GET /api/v2/config-sets/{id}": {
    readonly path: {
      /** The config set's id: its name. */
      readonly id: string;
    };
    readonly reply: ConfigSet;
  };
  /** Replace a configuration set */
  readonly "PUT /api/v2/config-sets/{id}": {
    readonly path: {
      /** The config set's id: its name. */
      readonly id: string;
    };
    readonly body?: ConfigSetContent;
    readonly reply: ConfigSet;
  };
  /** Delete a configuration set */
  readonly "DELETE /api/v2/config-sets/{id}": {
    readonly path: {
      /** The config set's id: its name. */
      readonly id: string;
    };
    readonly reply: ConfigSetRemoved;
  };
  /** Create an environment */
  readonly "POST /api/v2/environments": {
    readonly body: CreateEnvironmentReportRequest;
    readonly reply: {
      readonly environment: CreatedEnvironmentReport;
    };
  };
  /** List environments */
  readonly "GET /api/v2/environments": {
    readonly query?: {
      /** Size of the page; default 50, maximum 100. */
      readonly limit?: number;
      /** Number of results to skip; default 0. */
      readonly offset?: number;
      /** Only environments in this state. */
      readonly status?: "creating" | "building" | "updating" | "ready" | "failed" | "terminating";
      /** Part of the name, literally; upper and lower case are the same. */
      readonly search?: string;
      /** Created at this moment or later (ISO 8601, extended or basic; UTC without an offset; the + of an offset may be sent as it is). */
      readonly created_after?: string;
      /** Created before this moment (ISO 8601, extended or basic; UTC without an offset; the + of an offset may be sent as it is). */
      readonly created_before?: string;
      /** Only environments in this state of sleep. asleep: by a schedule, by idleness, or because a person suspended it. */
      readonly sleep?: "awake" | "asleep" | "waking";
    };
    readonly reply: {
      readonly environments: readonly (ListedEnvironmentReport)[];
      /** Number of matches on all pages. */
      readonly total: number;
      readonly limit: number;
      readonly offset: number;
    };
  };
  /** Follow all environments */
  readonly "GET /api/v2/watch/environments": {
    readonly event: ChangedEnvironment;
  };
  /** Get an environment */
  readonly "GET /api/v2/environments/{environment_id}": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: EnvironmentReport;
  };
  /** Update an environment or extend its TTL */
  readonly "PUT /api/v2/environments/{environment_id}": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly body: ExtendEnvironmentRequest;
    readonly reply: {
      readonly environment: EnvironmentLifetime;
    };
  };
  /** Protect, suspend or move an environment */
  readonly "PATCH /api/v2/environments/{environment_id}": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly body: UpdateEnvironmentRequest;
    readonly reply: EnvironmentReport;
  };
  /** Delete an environment */
  readonly "DELETE /api/v2/environments/{environment_id}": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: {
      readonly message: string;
    };
  };
  /** Follow an environment */
  readonly "GET /api/v2/environments/{environment_id}/stream": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly event: EnvironmentReport;
  };
  /** Make the database anew */
  readonly "POST /api/v2/environments/{environment_id}/database/reset": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: EnvironmentReport;
  };
  /** Check an environment's URLs */
  readonly "GET /api/v2/environments/{environment_id}/check-all-urls": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: UrlCheckReport;
  };
  /** List an environment's workloads */
  readonly "GET /api/v2/environments/{environment_id}/workloads": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: {
      /** Workloads of the backend first, then those of the frontend, by kind and name. */
      readonly workloads: readonly (Workload)[];
    };
  };
  /** Get a component's logs */
  readonly "GET /api/v2/environments/{environment_id}/logs/{component}": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
      /** argocd: the deployer's report on the environment's application. */
      readonly component: "backend" | "frontend" | "argocd";
    };
    readonly query?: {
      /** Number of the newest lines. */
      readonly lines?: number;
      /** Nothing older than this, a duration such as 1d, 1h, 30m or 1.5h. */
      readonly since?: string;
      /** The pods of this workload instead of the component's, whichever component they are of: its name, or its kind and name where several kinds have one of that name. */
      readonly workload?: string;
    };
    readonly reply: EnvironmentLogsReport;
  };
  /** Follow a component's logs */
  readonly "GET /api/v2/environments/{environment_id}/logs/{component}/stream": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
      /** Component of the pods. */
      readonly component: "backend" | "frontend";
    };
    readonly query?: {
      /** Number of the newest lines. */
      readonly lines?: number;
      /** Nothing older than this, a duration such as 1d, 1h, 30m or 1.5h. */
      readonly since?: string;
      /** The pods of this workload instead of the component's, whichever component they are of: its name, or its kind and name where several kinds have one of that name. */
      readonly workload?: string;
    };
    readonly event: LogEntry;
  };
  /** Force a status reconciliation */
  readonly "POST /api/v2/environments/{environment_id}/reconcile-status": {
    readonly path: {
      /** The environment's id, in upper or lower case, or its name. */
      readonly environment_id: string;
    };
    readonly reply: {
      readonly message: string;
    };
  };
  /** Clean up failed environments */
  readonly "POST /api/v2/environments/cleanup-failed": {
    readonly body?: CleanupRequest;
    readonly reply: {
      readonly message: string;
      /** Environments whose deletion is initiated, or would be. */
      readonly cleaned: readonly (CleanedEnvironment)[];
      readonly skipped: readonly (SkippedEnvironment)[];
      readonly errors: readonly (CleanupError)[];
      /** Number of failed environments that the caller may delete. */
      readonly total: number;
    };
  };
  /** Show what the link of an expiry warning extends */
  readonly "GET /api/v2/extensions/{token}": {
    readonly path: {
      /** The token of the link in the e-mail. */
      readonly token: string;
    };
    readonly reply: ExtensionReport;
  };
  /** Extend an environment by the link of an expiry warning */
  readonly "POST /api/v2/extensions/{token}": {
    readonly path: {
      /** The token of the link in the e-mail. */
      readonly token: string;
    };
    readonly reply: ExtensionReport;
  };
  /** List repositories */
  readonly "GET /api/v2/repos": {
    readonly query?: {
      /** Size of the page; default 50, maximum 100. */
      readonly limit?: number;
      /** Number of results to skip; default 0. */
      readonly offset?: number;
    };
    readonly reply: RepositoryPage;
  };
  /** Reload the repositories */
  readonly "POST /api/v2/repos/reload": {
    readonly reply: RepositoryReload;
  };
  /** Get a repository */
  readonly "GET /api/v2/repos/{id}": {
    readonly path: {
      /** The repository's id: its name. */
      readonly id: string;
    };
    readonly reply: Repository;
  };
  /** Get the chart's values template */
  readonly "GET /api/v2/helm/config-template": {
    readonly query?: {
      /** Id of a registered repository; the default chart with placeholders when left out. */
      readonly repo?: string;
      /** Id of a config set; the default one, if there is one, when left out. */
      readonly config_set?: string;
      /** False: for an environment whose secrets are all given. */
      readonly auto_generate_secrets?: boolean;
    };
    readonly reply: MappedChartTemplate;
  };
  /** Get a demo dashboard */
  readonly "GET /api/v2/demos/dashboard": {
    readonly reply: DemoDashboard;
  };
  /** Create a sample environment */
  readonly "POST /api/v2/demos/sample-environment": {
    readonly reply: {
      readonly environment: CreatedEnvironment;
      /** Marks demo data. */
      readonly demo: true;
    };
  };
  /** Create an API token */
  readonly "POST /api/v2/tokens": {
    readonly body: TokenRequest;
    readonly reply: CreatedToken;
  };
  /** List the user's tokens */
  readonly "GET /api/v2/tokens": {
    readonly query?: {
      /** Size of the page; default 50, maximum 100. */
      readonly limit?: number;
      /** Number of results to skip; default 0. */
      readonly offset?: number;
      /** The tokens of all users; needs the permission tokens:all. */
      readonly all?: boolean;
    };
    readonly reply: TokenList;
  };
  /** Revoke an API token */
  readonly "DELETE /api/v2/tokens/{id}": {
    readonly path: {
      /** The token's id. */
      readonly id: string;
    };
    readonly reply: Token;
  };
  /** Get a token's value */
  readonly "GET /api/v2/tokens/{id}/value": {
    readonly path: {
      /** The token's id. */
      readonly id: string;
    };
    readonly reply: TokenValue;
  };
  /** Current user info */
  readonly "GET /api/v2/auth/user": {
    readonly reply: CurrentUser;
  };
  /** Options for a log-in */
  readonly "GET /api/v2/auth/login-options": {
    readonly reply: LoginOptions;
  };
  /** Ask for a new password */
  readonly "POST /api/v2/auth/password-reset": {
    readonly body: PasswordResetRequest;
    readonly reply: PasswordResetReply;
  };
  /** Receive an event of a repository host */
  readonly "POST /api/v2/webhooks/repohost": {
    readonly body: RepositoryHostEvent;
    readonly reply: RepositoryHostReceipt;
  };
  /** Receive an event of a pipeline host */
  readonly "POST /api/v2/webhooks/pipelinehost/pipeline": {
    readonly body: PipelineEvent;
    readonly reply: PipelineReceipt;
  };
  /** Receive a generic event */
  readonly "POST /api/v2/webhooks/generic": {
    readonly body: GenericEvent;
    readonly reply: WebhookReceipt;
  };
  /** Receive an event of an environment */
  readonly "POST /api/v2/webhooks/environment/event": {
    readonly body: EnvironmentEvent;
    readonly reply: EnvironmentEventReceipt;
  };
  /** Test the pipeline webhook */
  readonly "GET /api/v2/webhooks/pipelinehost/test": {
    readonly reply: PipelineWebhookTest;
  };
  /** List webhook deliveries */
  readonly "GET /api/v2/webhooks/deliveries": {
    readonly query?: {
      /** Size of the page; default 50, maximum 100. */
      readonly limit?: number;
      /** Number of results to skip; default 0. */
      readonly offset?: number;
      /** Id of a registered repository. */
      readonly repository?: string;
      /** Outcome. */
      readonly status?: "pending" | "acted" | "ignored" | "failed";
      /** The endpoint that received it. */
      readonly source?: "repohost" | "pipelinehost" | "generic" | "environment" | "approval" | "refetch";
      /** Type, in the platform's words. */
      readonly event?: "pull_request" | "push" | "pipeline" | "merge_group" | "approval" | "ping" | "other";
    };
    readonly reply: WebhookDeliveryPage;
  };
  /** Get a webhook delivery */
  readonly "GET /api/v2/webhooks/deliveries/{id}": {
    readonly path: {
      /** The id under which it is stored. */
      readonly id: string;
    };
    readonly reply: WebhookDeliveryReport;
  };
  /** Act on a webhook delivery again */
  readonly "POST /api/v2/webhooks/deliveries/{id}/redeliver": {
    readonly path: {
      /** The id under which it is stored. */
      readonly id: string;
    };
    readonly reply: WebhookOutcome;
  };
  /** Simulate a webhook */
  readonly "POST /api/v2/webhooks/simulate": {
    readonly body: SimulateWebhook;
    readonly reply: WebhookSimulation;
  };
  /** Approve a commit of a fork */
  readonly "POST /api/v2/repos/{id}/pull-requests/{number}/approval": {
    readonly path: {
      /** The repository's id. */
      readonly id: string;
      /** The number of the pull request. */
      readonly number: string;
    };
    readonly body: ApproveCommit;
    readonly reply: WebhookOutcome;
  };
  /** Check the webhook of a repository */
  readonly "GET /api/v2/repos/{id}/webhook": {
    readonly path: {
      /** The repository's id: its name. */
      readonly id: string;
    };
    readonly reply: RepositoryWebhook;
  };
  /** Register or repair the webhook of a repository */
  readonly "POST /api/v2/repos/{id}/webhook": {
    readonly path: {
      /** The repository's id: its name. */
      readonly id: string;
    };
    readonly reply: RepositoryWebhook;
  };
  /** Get the platform's metrics */
  readonly "GET /api/v2/observability/metrics": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
    };
    readonly reply: PlatformMetrics;
  };
  /** Get the service levels */
  readonly "GET /api/v2/observability/slo/status": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
    };
    readonly reply: ServiceLevels;
  };
  /** Get a summary of the costs */
  readonly "GET /api/v2/observability/costs/summary": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
    };
    readonly reply: CostSummary;
  };
  /** Get what the costs consist of */
  readonly "GET /api/v2/observability/costs/dashboard": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** Interval between points of the series; default day. Weeks begin on Monday, UTC. */
      readonly interval?: "day" | "week";
    };
    readonly reply: CostDashboard;
  };
  /** Get what became of environments */
  readonly "GET /api/v2/insights/dashboard": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** Interval between points of the series; default day. Weeks begin on Monday, UTC. */
      readonly interval?: "day" | "week";
    };
    readonly reply: InsightsDashboard;
  };
  /** Get what became of environments in detail */
  readonly "GET /api/v2/insights/environments/analytics": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** Interval between points of the series; default day. Weeks begin on Monday, UTC. */
      readonly interval?: "day" | "week";
    };
    readonly reply: EnvironmentAnalytics;
  };
  /** Get the creators of environments */
  readonly "GET /api/v2/insights/users/activity": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** Interval between points of the series; default day. Weeks begin on Monday, UTC. */
      readonly interval?: "day" | "week";
    };
    readonly reply: UserActivity;
  };
  /** Get where money could be saved */
  readonly "GET /api/v2/insights/costs/analysis": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** repository unless said. */
      readonly group_by?: "repository" | "creator" | "config_set" | "trigger";
    };
    readonly reply: CostAnalysis;
  };
  /** Get what sleep saved, and what it could */
  readonly "GET /api/v2/insights/sleep": {
    readonly query?: {
      /** The time before now; 30d unless said, or from and to. */
      readonly window?: "24h" | "7d" | "30d";
      /** ISO 8601; with to, instead of a window. */
      readonly from?: string;
      /** ISO 8601, later than from. */
      readonly to?: string;
      /** Interval between points of the series; default day. Weeks begin on Monday, UTC. */
      readonly interval?: "day" | "week";
      /** repository unless said. */
      readonly group_by?: "repository" | "creator" | "config_set" | "trigger";
    };
    readonly reply: SleepInsights;
  };
  /** Liveness of the process */
  readonly "GET /api/v2/health": {
    readonly reply: Health;
  };
  /** Readiness of the platform */
  readonly "GET /api/v2/ready": {
    readonly reply: Readiness;
  };
  /** The platform's dependencies in detail */
  readonly "GET /api/v2/status": {
    readonly reply: PlatformStatus;
  };
}

/** Operations that take an Idempotency-Key, for safe repetitions. */
export const KEYED: ReadonlySet<string> = new Set(["POST /api/v2/environments"]);

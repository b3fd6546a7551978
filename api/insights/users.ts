import type { Life } from "../../crds/environment/life.ts";
import { NONE, OTHERS, type Tally } from "../../operator/ports/observability/summary.ts";
import type { Caller } from "../auth/access.ts";
import type { CostFigures } from "../costs/figures.ts";
import { amountOrNull, wholeCents } from "../costs/views.ts";
import { toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { activeUsersIn } from "./dashboard.ts";
import type { UserActivity } from "./schemas.ts";

const MOST_USERS = 150;

/** What is known of a person by the environments that are there or recorded. */
export interface KnownUser {
  readonly email: string;
  readonly name: string;
  readonly activeEnvironments: number;
  readonly lastCreatedMs: number;
}

/** The owners of environments, by their subject. */
export function knownUsers(lives: readonly Life[]): ReadonlyMap<string, KnownUser> {
  const users = new Map<string, KnownUser>();
  for (const { owner, createdMs, deletedMs } of lives) {
    if (owner === undefined) continue;
    const known = users.get(owner.subject);
    const isLatest = known === undefined || createdMs >= known.lastCreatedMs;
    // People change their names: the latest is shown.
    const { email, name } = isLatest ? owner : known;
    users.set(owner.subject, {
      ...{ email, name },
      activeEnvironments: (known?.activeEnvironments ?? 0) + Number(deletedMs === undefined),
      lastCreatedMs: Math.max(known?.lastCreatedMs ?? 0, createdMs),
    });
  }
  return users;
}

type Used = Pick<Services, "settings">;

/** Who created environments; the caller alone, unless they see all environments. */
export function toUserActivity(
  { figures, known }: { readonly figures: CostFigures; readonly known: ReadonlyMap<string, KnownUser> },
  caller: Caller,
  { settings }: Used,
): UserActivity {
  const { period, days, whole } = figures.summary;
  const people = [...whole.by.creator].filter(([subject]) => subject !== NONE && subject !== OTHERS);
  const seesAll = caller.permissions.has("environments:all");
  const shown = people.filter(([subject]) => seesAll || subject === caller.subject);
  const toUser = ([subject, tally]: readonly [string, Tally]) => {
    const { email = "", name = "", activeEnvironments = 0, lastCreatedMs } = known.get(subject) ?? {};
    return {
      ...{ id: subject, email, name, created: tally.created, active_environments: activeEnvironments },
      total_cost: amountOrNull(wholeCents(tally, settings.costs)),
      last_created_at: lastCreatedMs === undefined ? null : new Date(lastCreatedMs).toISOString(),
    };
  };
  return {
    period: toPeriod(period),
    total_users: new Set([...known.keys(), ...people.map(([subject]) => subject)]).size,
    active_users: activeUsersIn(whole.by.creator),
    users: shown
      .map(toUser)
      .sort((one, other) => other.created - one.created || one.id.localeCompare(other.id))
      .slice(0, MOST_USERS),
    series: days.map(({ date, summary }) => ({ date, active_users: activeUsersIn(summary.by.creator) })),
  };
}

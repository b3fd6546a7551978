import type { Settings } from "../../config/settings.ts";
import { NONE, OTHERS, type Rows, type Totals } from "../../crds/usage/period-summary.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import type { Caller } from "../auth/access.ts";
import { amountOrNull, costBasis, wholeCents } from "../costs/views.ts";
import type { UsageSum } from "../observability/memo.ts";
import { toPeriod } from "../schemas/period.ts";
import { activeUsersIn, type SeriesOf } from "./dashboard.ts";
import type { UserActivity } from "./schemas.ts";

const MOST_USERS = 150;

/** Facts about a person from existing or recorded environments. */
export interface KnownUser {
  readonly email: string;
  readonly name: string;
  readonly activeEnvironments: number;
  readonly lastCreatedMs: number;
}

type KnownUsers = ReadonlyMap<string, KnownUser>;

/** Owners of environments, by their subject. */
export const KNOWN_USERS: UsageSum<KnownUsers, KnownUsers> = {
  ofPart: (records) => sumOfUsers(records.flatMap((record) => userOf(record))),
  whole: (parts) => sumOfUsers(parts.flatMap((part) => [...part])),
};

function userOf({ owner, createdMs, deletedMs }: UsageRecord): readonly (readonly [string, KnownUser])[] {
  if (owner === undefined) return [];
  const { subject, email, name } = owner;
  return [[subject, { email, name, activeEnvironments: Number(deletedMs === undefined), lastCreatedMs: createdMs }]];
}

function sumOfUsers(all: readonly (readonly [string, KnownUser])[]): KnownUsers {
  const users = new Map<string, KnownUser>();
  for (const [subject, one] of all) {
    const known = users.get(subject);
    users.set(subject, known === undefined ? one : together(known, one));
  }
  return users;
}

/** People change their names: the latest is shown. */
function together(known: KnownUser, next: KnownUser): KnownUser {
  const { email, name, lastCreatedMs } = next.lastCreatedMs >= known.lastCreatedMs ? next : known;
  return { email, name, lastCreatedMs, activeEnvironments: known.activeEnvironments + next.activeEnvironments };
}

/** Creators of environments; without access to all environments, the caller alone. */
export function toUserActivity(
  { report, interval, users }: SeriesOf & { readonly users: ReadonlyMap<string, KnownUser> },
  caller: Caller,
  settings: Settings,
): UserActivity {
  const { period, days, whole } = report.summary;
  const seesAll = caller.permissions.has("environments:all");
  const isShown = (subject: string) =>
    subject !== NONE && subject !== OTHERS && (seesAll || subject === caller.subject);
  const shown = (rows: Rows): Rows => new Map([...rows].filter(([subject]) => isShown(subject)));
  const people = shown(whole.by.creator);
  const toUser = ([subject, totals]: readonly [string, Totals]) => {
    const { email = "", name = "", activeEnvironments = 0, lastCreatedMs } = users.get(subject) ?? {};
    return {
      id: subject,
      email,
      name,
      created: totals.created,
      active_environments: activeEnvironments,
      total_cost: amountOrNull(wholeCents(totals, settings.costs)),
      ...costBasis(totals),
      last_created_at: lastCreatedMs === undefined ? null : new Date(lastCreatedMs).toISOString(),
    };
  };
  return {
    period: toPeriod(period),
    total_users: new Set([...[...users.keys()].filter(isShown), ...people.keys()]).size,
    active_users: activeUsersIn(people),
    users: [...people]
      .map(toUser)
      .sort((one, other) => other.created - one.created || one.id.localeCompare(other.id))
      .slice(0, MOST_USERS),
    series: pointsOf(days, interval).map(({ date, summary }) => ({
      date,
      active_users: activeUsersIn(shown(summary.by.creator)),
    })),
  };
}

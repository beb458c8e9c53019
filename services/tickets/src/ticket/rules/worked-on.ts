import type { TicketState } from './fields.ts';

/** A profile that works on a ticket, and when this was last set. Units: `at` in Unix seconds. */
export interface WorkedOn {
  profileId: number;
  at: number;
}

/** A change of who works on a ticket. */
export interface WorkedOnChange {
  /** All profiles that work on it afterwards. */
  after: readonly WorkedOn[];
  /** The profile that is added or renewed. */
  added: WorkedOn | undefined;
  /** The profiles that are removed: one that no longer works on it, and those that have expired. */
  removedIds: readonly number[];
}

/** How long a profile is shown after it was set. */
const shownSeconds = 3600;
/** How many profiles a ticket has at most; the one that was renewed longest ago is removed first. */
const maxWorkedOn = 100;

/** Decides that a profile works on a ticket from now on. Units: `now` in Unix seconds. */
export function startWorking(before: readonly WorkedOn[], profileId: number, now: number): WorkedOnChange {
  const removedIds = expiredIds(before, now).filter((id) => id !== profileId);
  const added = { profileId, at: now };
  return { after: [...without(before, [...removedIds, profileId]), added], added, removedIds };
}

/** Decides that a profile no longer works on a ticket. Units: `now` in Unix seconds. */
export function stopWorking(before: readonly WorkedOn[], profileId: number, now: number): WorkedOnChange {
  const removedIds = [...expiredIds(before, now).filter((id) => id !== profileId), profileId];
  return { after: without(before, removedIds), added: undefined, removedIds };
}

/** The profiles that are shown as working on a ticket. Units: `now` in Unix seconds. */
export function workingIds(workedOn: readonly WorkedOn[], now: number): number[] {
  return workedOn.filter(({ at }) => at > now - shownSeconds).map(({ profileId }) => profileId);
}

/** The profiles that have expired, and the oldest ones that exceed the limit when one more is added. */
function expiredIds(workedOn: readonly WorkedOn[], now: number): number[] {
  const newestFirst = workedOn.toSorted((left, right) => right.at - left.at);
  return newestFirst
    .filter(({ at }, index) => at <= now - shownSeconds || index >= maxWorkedOn - 1)
    .map(({ profileId }) => profileId);
}

function without(workedOn: readonly WorkedOn[], ids: readonly number[]): WorkedOn[] {
  return workedOn.filter(({ profileId }) => !ids.includes(profileId));
}

/** The caller whose skills are compared with those of tickets. */
export interface SkilledCaller {
  profileId: number | null;
  skills: { tagIds: readonly number[]; excludedTagIds: readonly number[]; restricted: boolean };
}

/**
 * Whether the caller has the skills for a ticket.
 *
 * A ticket that is assigned to the caller always matches. Any other matches if it has no routing-relevant skill tag, or
 * one that the caller has too; for a restricted caller it must also have no excluded tag.
 * Source: docs/reference/api.md, Ticket scope.
 */
export function hasRequiredSkills(
  ticket: Pick<TicketState, 'agentId' | 'tagIds'>,
  caller: SkilledCaller,
  isRoutingSkill: (tagId: number) => boolean,
): boolean {
  if (caller.profileId !== null && ticket.agentId === caller.profileId) return true;
  const { tagIds, excludedTagIds, restricted } = caller.skills;
  if (restricted && ticket.tagIds.some((tagId) => excludedTagIds.includes(tagId))) return false;
  const needed = ticket.tagIds.filter(isRoutingSkill);
  return needed.length === 0 || needed.some((tagId) => tagIds.includes(tagId));
}

/** A profile that works on a ticket, and when it was last said to. Units: `at` in Unix seconds. */
export interface WorkedOn {
  profileId: number;
  at: number;
}

/** A change of who works on a ticket. */
export interface WorkedOnChange {
  /** All who work on it afterwards. */
  after: readonly WorkedOn[];
  /** The one who is added or renewed. */
  added: WorkedOn | undefined;
  /** The profiles that are removed: one who no longer works on it, and those whose time has run out. */
  removedIds: readonly number[];
}

/** For how long a profile is shown. */
const shownSeconds = 3600;
/** How many profiles a ticket has at most; the one who was renewed longest ago is removed first. */
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

/** Those whose time has run out, and those who would be too many with one more. */
function expiredIds(workedOn: readonly WorkedOn[], now: number): number[] {
  const newestFirst = workedOn.toSorted((left, right) => right.at - left.at);
  return newestFirst
    .filter(({ at }, index) => at <= now - shownSeconds || index >= maxWorkedOn - 1)
    .map(({ profileId }) => profileId);
}

function without(workedOn: readonly WorkedOn[], ids: readonly number[]): WorkedOn[] {
  return workedOn.filter(({ profileId }) => !ids.includes(profileId));
}

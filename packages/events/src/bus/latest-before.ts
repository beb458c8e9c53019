const finestMs = 1_000;
/** Longer than any topic keeps its messages. */
const oldestMs = 400 * 24 * 60 * 60_000;

/**
 * Finds the latest time before which nothing happened, by few questions: the age is doubled until `nothingBefore` is true,
 * and then halved between the last two. The broker is asked for offsets by time only, and not for the time of an offset.
 *
 * Shape: not later than the exact time; earlier by at most a second, or a tenth of the age.
 * Units: Unix ms.
 */
export async function latestBefore(
  nothingBefore: (time: number) => Promise<boolean>,
  now: number = Date.now(),
): Promise<number> {
  let younger = 0;
  let older = finestMs;
  while (older < oldestMs && !(await nothingBefore(now - older))) {
    younger = older;
    older *= 2;
  }
  while (older - younger > Math.max(finestMs, older / 10)) {
    const middle = Math.round((older + younger) / 2);
    if (await nothingBefore(now - middle)) older = middle;
    else younger = middle;
  }
  return now - older;
}

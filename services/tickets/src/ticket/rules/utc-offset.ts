import type { Interval } from './business-hours.ts';

/** A part of time in which a time zone has one offset from UTC. Units: Unix seconds, seconds. */
export interface OffsetSegment extends Interval {
  offset: number;
}

/** How far the clocks on the wall of a time zone are ahead of UTC. */
export interface UtcOffsets {
  /** Units: Unix seconds, seconds. */
  at(time: number): number;
  /** Divides a part of time where the offset changes. */
  segments(part: Interval): OffsetSegment[];
}

/**
 * The longest time between two looks at the offset. Brazil has ended its summer time after seven days; no zone has changed
 * twice within less.
 */
const stepSeconds = 302_400;

/** The offsets of a time zone, from the time zone data of the platform. */
export function utcOffsets(timeZone: string): UtcOffsets {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const at = (time: number) => offsetIn(format.format(time * 1000));

  /** The first second after `from`, where the offset is another one at `to`, that has another offset. */
  function changeAfter(from: number, to: number, offset: number): number {
    let before = from;
    let after = to;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (at(middle) === offset) before = middle;
      else after = middle;
    }
    return after;
  }

  function segments({ from, to }: Interval): OffsetSegment[] {
    const found: OffsetSegment[] = [];
    for (let start = from, offset = at(from); start < to; ) {
      let end = start;
      let next = offset;
      while (end < to && next === offset) {
        const look = Math.min(end + stepSeconds, to);
        next = at(look);
        end = next === offset ? look : changeAfter(end, look, offset);
      }
      found.push({ from: start, to: end, offset });
      start = end;
      if (start < to) offset = at(start);
    }
    return found;
  }

  return { at, segments };
}

/** Reads the end of a text such as "7/1/2026, GMT+02:00". Historic offsets have seconds; UTC has no digits. */
function offsetIn(text: string): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  const offset = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -offset : offset;
}

/** Reads the header `Retry-After`, in seconds or as a date of HTTP; undefined if it is neither. Units: Unix ms. */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,10}$/.test(header)) return now + Number(header) * 1000;
  const time = /^[A-Z][a-z]{2,8},? .{1,40} GMT$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

import { inTime } from './in-time.ts';

/** A store or a bus that does not respond must not delay the other metrics. */
const defaultTimeoutMs = 3_000;

/**
 * Reads the value of a metric from a store or a bus. Returns undefined if the read fails, or takes too long: then the
 * metric is not reported, and the metrics of the dependencies say why.
 */
export async function readMeasured<Value>(
  read: () => Promise<Value>,
  timeoutMs = defaultTimeoutMs,
): Promise<Value | undefined> {
  try {
    const value = await inTime(read(), timeoutMs);
    return value === 'late' ? undefined : value;
  } catch {
    return undefined;
  }
}

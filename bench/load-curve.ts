import { type BenchPlan, type Latency, measureLatency } from './load.ts';
import { type LoadedSet, type OperationName, operations } from './operations.ts';
import type { BenchSystem } from './system.ts';

/** The latency of an operation at several fixed rates. */
export interface LoadCurve {
  operation: OperationName;
  /** Units: requests per second. */
  points: (Latency & { rate: number })[];
}

/** The rates, as shares of the highest one. */
const shares = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9];
const connections = 16;

/** Measures the latency of an operation at rates up to nearly the highest one. */
export async function measureCurve(
  operation: OperationName,
  set: LoadedSet,
  { system, maxRate, seconds, progress }: BenchPlan & { system: BenchSystem; maxRate: number },
): Promise<LoadCurve> {
  progress(`${operation}, latency over load`);
  const points: LoadCurve['points'] = [];
  for (const share of shares) {
    const rate = Math.max(1, Math.round(maxRate * share));
    const latency = await measureLatency(system, operations[operation](set), { seconds, connections, rate });
    points.push({ rate, ...latency });
  }
  return { operation, points };
}

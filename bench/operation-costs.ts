import type { BareProcess } from './bare-process.ts';
import { type BenchPlan, type Measured, measure, type NextRequest, type Target } from './load.ts';
import {
  type LoadedSet,
  type OperationName,
  oneRoundTripRequests,
  operations,
  sameWorkRequests,
} from './operations.ts';
import type { RoundTripCounter, RoundTrips } from './round-trips.ts';
import type { BenchSystem } from './system.ts';
import type { Goal } from './table.ts';

/** The cost of an operation in the system and in the bare routes. */
export interface OperationCosts {
  operation: OperationName;
  /** The goal for the rate of the system, as a share of the rate of the bare route with the same work. */
  goal: Goal;
  system: Cost;
  /** The bare route that reads and writes the same. */
  bare: Cost;
  /** The bare route with one round trip to the store; undefined if `bare` itself makes only one. */
  oneRoundTrip?: Cost;
}

/** The cost of a request. */
export interface Cost extends Measured {
  /** With one connection and with 16, because concurrent writes may share a command. */
  roundTrips: { one: RoundTrips; sixteen: RoundTrips };
}

const connections = 16;
const goals: Record<OperationName, Goal> = {
  get: { atLeast: 0.5 },
  search: { atLeast: 0.7 },
  create: { atLeast: 0.3 },
  patch: { atLeast: 0.3 },
  getLatest: { atLeast: 0.4 },
};

/** The settings of the measurement. */
export interface CostPlan extends BenchPlan {
  system: BenchSystem;
  bare: BareProcess;
  counter: RoundTripCounter;
}

/** Measures an operation on the system and on the bare routes, all on the same tickets and engine. */
export async function measureOperation(
  operation: OperationName,
  set: LoadedSet,
  plan: CostPlan,
): Promise<OperationCosts> {
  const cost = async (who: string, target: Target, nextRequest: NextRequest, rate?: number): Promise<Cost> => {
    plan.progress(`${operation}, ${set.count} tickets, ${who}`);
    const measured = await measure(target, nextRequest, { seconds: plan.seconds, connections, rate });
    // The counting loads come after the timed ones, so that these do not include them.
    const one = await plan.counter.count(target, nextRequest, 1);
    const sixteen = await plan.counter.count(target, nextRequest, connections);
    return { ...measured, roundTrips: { one, sixteen } };
  };
  const system = await cost('the system', plan.system, operations[operation](set));
  const rate = system.fixedRate;
  const bare = await cost('the bare route', plan.bare, sameWorkRequests(operation, set), rate);
  const single = oneRoundTripRequests(operation, set);
  if (!single) return { operation, goal: goals[operation], system, bare };
  const oneRoundTrip = await cost('the bare route with one round trip', plan.bare, single, rate);
  return { operation, goal: goals[operation], system, bare, oneRoundTrip };
}

/** CPU time by service, and of the store. Units: ms. */
export interface CpuTimes {
  services: Readonly<Record<string, number>>;
  store: number;
}

/** The measurements with a certain number of processes of each service. */
export interface MeasuredPoint {
  /** The average cost of a request, in addition to the CPU time that idle processes use. */
  request: CpuTimes;
  /** The CPU time per second of one idle process of each service, and of the store for these. */
  idle: CpuTimes;
}

/** An installation that is planned for. */
export interface PlannedLoad {
  agents: number;
  ticketsPerDay: number;
  changesPerTicket: number;
}

/** The capacity that an installation needs. */
export interface NeededCapacity {
  /** Requests and changes per second at the busiest time. */
  requestsPerSecond: number;
  /** The processes of each service. */
  processes: Readonly<Record<string, number>>;
  /** The cores of all services, and of the primary of the store. */
  serviceCores: number;
  storeCores: number;
}

/** Assumptions of the model, which docs/operations/scaling.md explains. */
export const assumptions = {
  /** Requests of an agent per minute, at the busiest time: lists, tickets, the queue. */
  requestsPerAgentAndMinute: 6,
  /** The day of most tickets has this many hours, and its busiest hour this many times the average. */
  hoursPerDay: 10,
  peakFactor: 3,
  /** How much of a core a process uses at the busiest time, so that latency is not queueing time. */
  utilisation: 0.5,
  /** The minimum number of processes of each service, so that one may fail. */
  leastProcesses: 2,
} as const;

/**
 * Plans an installation from the cost of a request of the measured mix. A process uses one core at most, so a service
 * that needs more has more processes.
 */
export function neededCapacity(
  { agents, ticketsPerDay, changesPerTicket }: PlannedLoad,
  { request, idle }: MeasuredPoint,
): NeededCapacity {
  const { requestsPerAgentAndMinute, hoursPerDay, peakFactor, utilisation, leastProcesses } = assumptions;
  const reads = (agents * requestsPerAgentAndMinute) / 60;
  const writes = (ticketsPerDay * (1 + changesPerTicket) * peakFactor) / (hoursPerDay * 3600);
  const requestsPerSecond = reads + writes;
  const toCores = (cpuMs: number) => cpuMs / 1000 / utilisation;
  const planned = Object.entries(request.services).map(([name, cpuMs]) => {
    const idleMs = idle.services[name] ?? 0;
    const needed = Math.ceil((requestsPerSecond * cpuMs) / (utilisation * 1000 - idleMs));
    const processes = Math.max(leastProcesses, needed);
    return { name, processes, cores: toCores(requestsPerSecond * cpuMs + processes * idleMs) };
  });
  const idleSets = planned.reduce((sum, { processes }) => sum + processes, 0) / planned.length;
  return {
    requestsPerSecond,
    processes: Object.fromEntries(planned.map(({ name, processes }) => [name, processes])),
    serviceCores: planned.reduce((sum, { cores }) => sum + cores, 0),
    storeCores: toCores(requestsPerSecond * request.store + idleSets * idle.store),
  };
}

/** The difference between the costs of a request at two points, as a share of the first. */
export function deviation(first: MeasuredPoint, second: MeasuredPoint): number {
  return addUp(second.request) / addUp(first.request) - 1;
}

/** The CPU time of all services and the store. */
function addUp({ services, store }: CpuTimes): number {
  return Object.values(services).reduce((all, one) => all + one, store);
}

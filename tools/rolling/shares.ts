import type { Replica, ReplicatedSystem } from './replicated-system.ts';

/** How many requests each replica of a service has processed: of the gateway by REST, of other services by RPC. */
export interface RequestCounts {
  rest: readonly number[];
  rpc: readonly number[];
}

/** Reads the counts of the replicas of a service from their metrics. */
export async function requestCounts({ replicas }: ReplicatedSystem, service: string): Promise<RequestCounts> {
  const own = replicas.filter((one) => one.service === service && one.isRunning);
  const texts = await Promise.all(own.map(readMetrics));
  const count = (api: string) => texts.map((text) => addUp(text, api));
  return { rest: count('rest'), rpc: count('rpc') };
}

/** The share of the first replica in the requests between two counts; undefined if there were none. */
export function firstShare(before: readonly number[], after: readonly number[]): number | undefined {
  const grown = after.map((count, index) => count - (before[index] ?? 0));
  const all = grown.reduce((sum, one) => sum + one, 0);
  return all === 0 ? undefined : (grown[0] ?? 0) / all;
}

/** Says what is wrong with the share of the first of two replicas; undefined if both get between 40 and 60 %. */
export function shareProblem(share: number | undefined): string | undefined {
  if (share === undefined) return 'neither has got a request';
  if (share >= 0.4 && share <= 0.6) return undefined;
  return `the first has got ${(share * 100).toFixed(1)} %, which is not between 40 and 60 %`;
}

async function readMetrics({ ports }: Replica): Promise<string> {
  return (await fetch(`http://127.0.0.1:${ports.internal}/metrics`)).text();
}

function addUp(text: string, api: string): number {
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('ticketing_requests_total{') && line.includes(`api="${api}"`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

import type { BareProcess } from './bare-process.ts';
import { archivedCount, fillKnowledge } from './knowledge-sources.ts';
import { measure } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of the knowledge service on the command line. */
export const knowledgeNames = ['archived'] as const;

const pageSize = 100;
const load = { connections: 16 };

/** Measures the list of archived sources through the gateway, as a share of a bare route on the same engine. */
export async function measureKnowledge(
  system: BenchSystem,
  bare: BareProcess,
  { seconds, progress }: { seconds: number; progress(text: string): void },
): Promise<Figure[]> {
  progress('the archived knowledge is being filled');
  await fillKnowledge(system.mongodbUri);
  const next = () => {
    const offset = Math.floor(Math.random() * (archivedCount / pageSize)) * pageSize;
    return { method: 'GET' as const, path: `/knowledgeSource/archived?limit=${pageSize}&offset=${offset}` };
  };
  progress('archived knowledge, the system');
  const measured = await measure(system, next, { ...load, seconds });
  progress('archived knowledge, the bare route');
  const bareMeasured = await measure(bare, next, { ...load, seconds, rate: measured.fixedRate });
  const details = { systemPerSecond: measured.maxRate, barePerSecond: bareMeasured.maxRate };
  const name = `archived list of ${pageSize} from ${archivedCount} sources / bare query and stringify`;
  return [{ name, value: measured.maxRate / bareMeasured.maxRate, details, goal: { atLeast: 0.7 } }];
}

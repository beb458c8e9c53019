import type { BareProcess } from './bare-process.ts';
import { archivedCount, fillKnowledge } from './knowledge-sources.ts';
import { type BenchPlan, compareWithBare } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of the knowledge service on the command line. */
export const knowledgeNames = ['archived'] as const;

const pageSize = 100;

/** Measures the list of archived sources through the gateway, as a share of a bare route on the same engine. */
export async function measureKnowledge(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure[]> {
  plan.progress('the archived knowledge is being filled');
  await fillKnowledge(system.mongodbUri);
  const next = () => {
    const offset = Math.floor(Math.random() * (archivedCount / pageSize)) * pageSize;
    return { method: 'GET' as const, path: `/knowledgeSource/archived?limit=${pageSize}&offset=${offset}` };
  };
  const name = `archived list of ${pageSize} from ${archivedCount} sources / bare query and stringify`;
  return [await compareWithBare({ name, goal: { atLeast: 0.7 } }, [system, next], [bare, next], plan)];
}

import { cpus, totalmem } from 'node:os';
import type { ComparedCosts } from './cost-table.ts';
import { costNames } from './costs.ts';
import { dialogueNames } from './dialogue.ts';
import { intentNames } from './intents.ts';
import { knowledgeNames } from './knowledge.ts';
import { listNames } from './lists.ts';
import type { LoadCurve } from './load-curve.ts';
import type { OperationCosts } from './operation-costs.ts';
import { operationNames } from './operations.ts';
import { growthNames, type MeasuredSet } from './read-growth.ts';
import { searchNames } from './searches.ts';
import { settingsNames } from './settings.ts';
import type { Figure } from './table.ts';
import { templateNames } from './templates.ts';

/** The benchmarks, in groups whose figures are measured together. Their names are those of `--only`. */
export const benchmarks: Readonly<Record<string, readonly string[]>> = {
  costs: costNames,
  api: operationNames,
  dialogue: dialogueNames,
  settings: settingsNames,
  templates: templateNames,
  knowledge: knowledgeNames,
  intents: intentNames,
  growth: growthNames,
  lists: listNames,
  searches: searchNames,
  events: ['events'],
  webhooks: ['webhooks'],
  attachments: ['attachments'],
  attacks: ['attacks'],
};

/** The measurements of a run of the benchmark; a part that it left out is empty. */
export interface BenchResults {
  costs?: ComparedCosts | undefined;
  operations: OperationCosts[];
  curves: LoadCurve[];
  growth: MeasuredSet[];
  figures: (Figure & { group: string })[];
}

/** A run of the benchmark: its measurements, their time, and its machine. */
export interface BenchRun extends BenchResults {
  /** RFC 3339. */
  measuredAt: string;
  machine: Machine;
  /** How many tickets its largest set had. */
  tickets: number;
  /** The benchmarks that were run, by their names. */
  only: readonly string[];
}

/** The machine of a run. The system, its engine and the load share all of it. */
export interface Machine {
  cores: number;
  memoryBytes: number;
  /** The version of Node. */
  node: string;
}

/** The machine of this process. */
export function thisMachine(): Machine {
  return { cores: cpus().length, memoryBytes: totalmem(), node: process.versions.node };
}

/**
 * Drops measurements that a later run has repeated or whose benchmark is gone. A run that measures a whole group
 * replaces all figures of the group with the same number of tickets, so that none stays under an old name.
 *
 * Shape: `runs` and the result have the oldest first. A run of which nothing is left is left out.
 */
export function withoutOutdated(runs: readonly BenchRun[]): BenchRun[] {
  return runs.map((run, index) => currentPart(run, runs.slice(index + 1))).filter((run) => !isEmpty(run));
}

function currentPart(run: BenchRun, later: readonly BenchRun[]): BenchRun {
  const exists = ({ operation }: { operation: string }) => operationNames.some((name) => name === operation);
  return {
    ...run,
    costs: later.some(({ costs }) => costs) ? undefined : run.costs,
    operations: run.operations.filter(
      (costs) => exists(costs) && !later.some(({ operations }) => includes(operations, 'operation', costs)),
    ),
    curves: run.curves.filter(
      (curve) => exists(curve) && !later.some(({ curves }) => includes(curves, 'operation', curve)),
    ),
    growth: run.growth.filter((set) => !later.some(({ growth }) => includes(growth, 'count', set))),
    figures: run.figures.filter(
      (figure) =>
        figure.group in benchmarks &&
        !later.some(
          (newer) =>
            includes(newer.figures, 'name', figure) ||
            (newer.tickets === run.tickets && hasMeasuredAll(newer, figure.group)),
        ),
    ),
  };
}

function includes<Key extends string>(
  items: readonly Record<Key, unknown>[],
  key: Key,
  wanted: Record<Key, unknown>,
): boolean {
  return items.some((item) => item[key] === wanted[key]);
}

function hasMeasuredAll({ only }: BenchRun, group: string): boolean {
  return (benchmarks[group] ?? []).every((name) => only.includes(name));
}

function isEmpty({ costs, operations, curves, growth, figures }: BenchRun): boolean {
  return !costs && [operations, curves, growth, figures].every(({ length }) => length === 0);
}

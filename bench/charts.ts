import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareCommand, UsageError } from '../tools/cli/command.ts';
import { type BenchRun, withoutOutdated } from './bench-run.ts';
import { drawChart } from './draw-chart.ts';
import {
  costTable,
  figureTable,
  growthChart,
  latencyCharts,
  type Numbered,
  operationTable,
  rateChart,
  runTable,
} from './pictures.ts';

const usage = `Draws the results of the newest npm run bench as SVG charts, and writes them with their tables to docs/performance. Takes
from the results that were drawn before whatever this run did not measure:

  npm run charts
`;

const resultsFolder = join(import.meta.dirname, 'results');
const folder = join(import.meta.dirname, '..', 'docs', 'performance');
const drawnFile = join(folder, 'results.json');

const introduction = `# Performance

Measured by \`npm run bench\`, drawn by \`npm run charts\`. Every ratio compares the system with a bare Fastify route on the same engine, in the same run; absolute numbers are those of the machine of that run, which all processes and the load share. A later run replaces what it measures again. The operations run with the API of each service alone (no analysis, rows or webhooks meanwhile), and \`get\` with \`includeSessions=false\`: they are limits, not the cost of a ticket with its consequences. Figures without a goal are in \`results.json\`.
`;

export const command = declareCommand({ usage, options: {} }, () => {
  const file = (existsSync(resultsFolder) ? readdirSync(resultsFolder, { withFileTypes: true }) : [])
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map(({ name }) => name)
    .toSorted()
    .at(-1);
  if (!file) throw new UsageError('There are no results. Run npm run bench first.');
  mkdirSync(folder, { recursive: true });
  const [drawn, newest] = [readDrawn(), read<BenchRun>(join(resultsFolder, file))];
  // The newest run replaces an earlier drawing of itself.
  const runs = withoutOutdated([...drawn.filter(({ measuredAt }) => measuredAt !== newest.measuredAt), newest]);
  const numbered = <Item extends object>(itemsOf: (run: BenchRun) => readonly Item[]): Numbered<Item>[] =>
    runs.flatMap((run, index) => itemsOf(run).map((item) => ({ ...item, run: index + 1 })));
  const operations = numbered((run) => run.operations);
  const charts = {
    rates: rateChart(operations),
    growth: growthChart(numbered((run) => run.growth).toSorted((left, right) => left.count - right.count)),
    ...latencyCharts(numbered((run) => run.curves)),
  };
  for (const [name, chart] of Object.entries(charts)) writeFileSync(join(folder, `${name}.svg`), drawChart(chart));
  writeFileSync(drawnFile, `${JSON.stringify(runs, null, 1)}\n`);
  const images = Object.entries(charts).map(([name, { title }]) => `![${title}](${name}.svg)\n`);
  const tables = [
    ...runs.flatMap(({ costs }, index) => (costs ? [costTable(costs, index + 1)] : [])),
    operationTable(operations),
    figureTable(numbered((run) => run.figures.filter(({ goal }) => goal))),
  ];
  writeFileSync(join(folder, 'README.md'), [introduction, runTable(runs), ...images, ...tables].join('\n'));
});

/** The runs whose results were drawn before, the oldest first. */
function readDrawn(): BenchRun[] {
  return existsSync(drawnFile) ? read<BenchRun[]>(drawnFile) : [];
}

/** Reads results; what could not be measured is null in the file. */
function read<Results>(file: string): Results {
  return JSON.parse(readFileSync(file, 'utf8'), (_, value) => value ?? Number.NaN) as Results;
}

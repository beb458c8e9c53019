import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services, variableName } from '@ticketing/system/services.ts';
import { declareCommand, print } from '../tools/cli/command.ts';
import { measureAttachments } from './attachments.ts';
import { measureAttacks, printAttacks } from './attacks.ts';
import { type BareProcess, startBare } from './bare-process.ts';
import { type BenchResults, type BenchRun, benchmarks, thisMachine } from './bench-run.ts';
import { embeddedBus, kafkaBus, measureBusOutage } from './bus-outage.ts';
import { costRows } from './cost-table.ts';
import { type MeasuredCosts, measureCosts, takeMedians } from './costs.ts';
import { bareDatabase, fill, tagCount } from './dataset.ts';
import { measureDialogue } from './dialogue.ts';
import { measureEvents } from './events.ts';
import { measureIntents } from './intents.ts';
import { measureKnowledge } from './knowledge.ts';
import { measureLists } from './lists.ts';
import { type BenchPlan, call } from './load.ts';
import { measureCurve } from './load-curve.ts';
import { measureOperation } from './operation-costs.ts';
import { printOperations } from './operation-table.ts';
import { operationNames } from './operations.ts';
import { growthFigures, loadSet, measureGrowth } from './read-growth.ts';
import { openRoundTripCounter } from './round-trips.ts';
import { measureSearches } from './searches.ts';
import { measureSettings } from './settings.ts';
import { type BenchSystem, type SystemOptions, startSystem } from './system.ts';
import { alignColumns, type Figure, printTable } from './table.ts';
import { measureTemplates } from './templates.ts';
import { measureWebhooks } from './webhooks.ts';

const allNames = Object.values(benchmarks).flat();
const usage = `Measures the system, and what its operations cost compared with bare routes on the same data and engine:

  npm run bench

  --tickets 100000   how many tickets the largest set has; the smallest one has 1,000
  --seconds 4        how long each load lasts
  --only get,search  the operations to compare: ${allNames.join(', ')}
  --attack TEXT      only the attacks whose names contain this
  --profile          writes CPU profiles of the services to bench/results
  --before FOLDER    a checkout of an earlier state, whose costs are measured beside those of this one
  --servers COMMAND  the command that kills and starts a Kafka broker, as in npm run faults; without it only the
                     outage of the embedded log is measured
`;

const resultsFolder = join(import.meta.dirname, 'results');

interface BenchOptions extends BenchPlan {
  profiles: string | undefined;
  servers: string | undefined;
  before: string | undefined;
}

/** The processes of a run, which share a data folder. */
interface Bench {
  folder: string;
  /** Functions that stop the started processes, called in reverse order. */
  stops: (() => Promise<void>)[];
  options: BenchOptions;
}

/** Measurements that compare the system, with the API only, with bare routes. They need no others. */
const comparisons: Record<string, (system: BenchSystem, bare: BareProcess, plan: BenchPlan) => Promise<Figure[]>> = {
  settings: measureSettings,
  knowledge: measureKnowledge,
  dialogue: measureDialogue,
  templates: measureTemplates,
  intents: measureIntents,
};

/** Measurements of the whole system, in their order after the comparisons. */
const measurements: Record<string, (system: BenchSystem, plan: BenchPlan) => Promise<Figure[]>> = {
  events: measureEvents,
  webhooks: measureWebhooks,
  attachments: measureAttachments,
};

const options = {
  tickets: { type: 'string', default: '100000' },
  seconds: { type: 'string', default: '4' },
  only: { type: 'string', default: allNames.join(',') },
  attack: { type: 'string', default: '' },
  profile: { type: 'boolean', default: false },
  servers: { type: 'string' },
  before: { type: 'string' },
} as const;

export const command = declareCommand(
  { usage, options },
  ({ tickets, seconds, only, attack, profile, servers, before }) =>
    runBench({
      tickets: Number(tickets),
      seconds: Number(seconds),
      progress,
      only: only.split(','),
      attack,
      profiles: profile ? resultsFolder : undefined,
      servers,
      before,
    }),
);

async function runBench(options: BenchOptions): Promise<void> {
  mkdirSync(resultsFolder, { recursive: true });
  const bench: Bench = { folder: mkdtempSync(join(tmpdir(), 'ticketing-bench-')), stops: [], options };
  const clear = async () => {
    await stopProcesses(bench);
    rmSync(bench.folder, { recursive: true, force: true });
  };
  process.once('SIGINT', () => void clear().then(() => process.exit(130)));
  try {
    await prepare(bench);
    const measuredAt = new Date().toISOString();
    const results: BenchResults = { operations: [], curves: [], growth: [], figures: [] };
    const { operations, figures } = results;
    if (isWanted(bench, 'costs')) await compareCosts(bench, results);
    if (isWanted(bench, 'api')) await measureApi(bench, results);
    if (['growth', 'lists', 'searches'].some((group) => isWanted(bench, group))) await measureLarge(bench, results);
    for (const [group, compare] of Object.entries(comparisons).filter(([name]) => isWanted(bench, name))) {
      const { system, bare } = await startApiAndBare(bench);
      addFigures(results, group, await compare(system, bare, options));
      await stopProcesses(bench);
    }
    for (const [group, measureGroup] of Object.entries(measurements).filter(([name]) => isWanted(bench, name))) {
      addFigures(results, group, await measureGroup(await start(bench, options), options));
      await stopProcesses(bench);
      if (group === 'events') addFigures(results, group, await measureOutage(bench));
    }
    const attackResults = isWanted(bench, 'attacks') ? await measureAttacks(await start(bench, options), options) : [];
    if (operations.length > 0) print(`\n${printOperations(operations)}`);
    if (results.costs) print(`\n${alignColumns(costRows(results.costs))}`);
    print(`\n${printTable(figures)}`);
    if (attackResults.length > 0) print(`\n${printAttacks(attackResults)}`);
    const { tickets, only } = options;
    const run: BenchRun = { measuredAt, machine: thisMachine(), tickets, only, ...results };
    const file = join(resultsFolder, `${measuredAt.slice(0, 10)}.json`);
    writeFileSync(file, `${JSON.stringify({ ...run, attackResults }, null, 2)}\n`);
  } finally {
    await clear();
  }
}

function isWanted({ options }: Bench, group: string): boolean {
  return (benchmarks[group] ?? []).some((name) => options.only.includes(name));
}

function addFigures(results: BenchResults, group: string, figures: readonly Figure[]): void {
  results.figures.push(...figures.map((figure) => ({ ...figure, group })));
}

/** Starts the system once before the measurements, so that it is built, and creates the tags of the tickets. */
async function prepare(bench: Bench): Promise<void> {
  progress('the first start, which compiles');
  const { before: checkout } = bench.options;
  for (const options of checkout === undefined ? [{}] : [{}, { checkout }]) {
    await createTags(await start(bench, options));
    await stopProcesses(bench);
  }
}

async function createTags(system: BenchSystem): Promise<void> {
  for (let tag = 1; tag <= tagCount; tag++) {
    await call(system, { method: 'POST', path: '/tag', body: { name: `tag ${tag}` } });
  }
}

/** Other work of the machine disturbs single rounds. */
const costRounds = 3;

/** Measures the whole system, and in turn with it that of the earlier checkout, on a folder of its own. */
async function compareCosts(bench: Bench, results: BenchResults): Promise<void> {
  const { before: checkout, profiles } = bench.options;
  const measureOne = async (options: SystemOptions) => {
    const system = await start(bench, options);
    const costs = await measureCosts(system, bench.options);
    await stopProcesses(bench);
    return costs;
  };
  const now: MeasuredCosts[] = [];
  const before: MeasuredCosts[] = [];
  for (let round = 1; round <= costRounds; round++) {
    progress(`costs, round ${round}`);
    now.push(await measureOne({ profiles }));
    if (checkout === undefined) continue;
    progress(`costs of the state before, round ${round}`);
    before.push(await measureOne({ checkout }));
  }
  results.costs = { now: takeMedians(now), before: before.length > 0 ? takeMedians(before) : undefined };
}

/** Measures the API with relay, consumers and schedulers off, because they use the processor and the store too. */
async function measureApi(bench: Bench, results: BenchResults): Promise<void> {
  const { options: plan } = bench;
  const { tickets, only } = plan;
  const { system, bare } = await startApiAndBare(bench);
  await fill(system.mongodbUri, tickets, [bareDatabase]);
  const set = await loadSet(system, tickets, plan);
  const counter = await openRoundTripCounter(system.mongodbUri);
  bench.stops.push(counter.close);
  for (const name of operationNames.filter((candidate) => only.includes(candidate))) {
    const costs = await measureOperation(name, set, { ...plan, system, bare, counter });
    results.operations.push(costs);
    results.curves.push(await measureCurve(name, set, { ...plan, system, maxRate: costs.system.maxRate }));
  }
  const memory = Object.entries(system.memory()).map(([name, bytes]) => ({
    name: `resident memory of ${name} under load, MB`,
    value: bytes / 1e6,
    goal: { atMost: 250 },
  }));
  await stopProcesses(bench);
  addFigures(results, 'api', memory);
}

/** Starts the system with the API only, and the bare routes on its engine. */
async function startApiAndBare(bench: Bench): Promise<{ system: BenchSystem; bare: BareProcess }> {
  const environment = Object.fromEntries(
    services.filter(({ roles }) => roles.length > 1).map(({ name }) => [variableName(name, 'ROLES'), 'api']),
  );
  const system = await start(bench, { profiles: bench.options.profiles, environment });
  const bare = await startBare(system.mongodbUri, system.processes.engine ?? 0);
  bench.stops.push(bare.stop);
  return { system, bare };
}

/** Measures how reads grow with the number of tickets, and the pages of lists of the largest set. */
async function measureLarge(bench: Bench, results: BenchResults): Promise<void> {
  const { options: plan } = bench;
  const { system } = await startApiAndBare(bench);
  if (isWanted(bench, 'growth')) {
    results.growth.push(...(await measureGrowth(system, plan)));
    addFigures(results, 'growth', growthFigures(results.growth));
  } else {
    await loadSet(system, plan.tickets, plan);
  }
  if (isWanted(bench, 'searches')) addFigures(results, 'searches', await measureSearches(system, plan));
  if (isWanted(bench, 'lists')) {
    const counter = await openRoundTripCounter(system.mongodbUri);
    bench.stops.push(counter.close);
    addFigures(results, 'lists', await measureLists(system, counter, plan));
  }
  await stopProcesses(bench);
}

/** The embedded log is stopped directly, a Kafka broker by a command. */
async function measureOutage(bench: Bench): Promise<Figure[]> {
  const { servers, tickets } = bench.options;
  const onKafka = Boolean(process.env.KAFKA_BROKERS);
  if (onKafka && servers === undefined) return [];
  if (!onKafka && servers !== undefined) throw new Error('--servers is for a broker that KAFKA_BROKERS names.');
  const bus = servers === undefined ? await embeddedBus(join(bench.folder, 'bus')) : kafkaBus(servers);
  bench.stops.push(bus.close);
  const system = await start(bench, { environment: bus.environment });
  progress(`${bus.name} is unavailable for a minute`);
  const figures = await measureBusOutage(system, bus, tickets);
  await stopProcesses(bench);
  return figures;
}

async function start({ folder, stops }: Bench, options: SystemOptions = {}): Promise<BenchSystem> {
  const system = await startSystem(join(folder, options.checkout === undefined ? 'now' : 'before'), options);
  stops.push(system.stop);
  return system;
}

async function stopProcesses({ stops }: Bench): Promise<void> {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
}

function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

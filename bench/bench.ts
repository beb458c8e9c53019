import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { services, variableOf } from '@ticketing/system/services.ts';
import { runDevelopmentScript } from '../tools/dev/run-script.ts';
import { measureAttachments } from './attachments.ts';
import { type AttackResult, measureAttacks, printAttacks } from './attacks.ts';
import { type BareProcess, startBare } from './bare-process.ts';
import { embeddedBus, kafkaBus, measureBusOutage } from './bus-outage.ts';
import { tagCount } from './dataset.ts';
import { dialogueNames, measureDialogue } from './dialogue.ts';
import { measureEvents } from './events.ts';
import { measureOperation, type OperationCosts } from './operation-costs.ts';
import { printOperations } from './operation-table.ts';
import { operationNames } from './operations.ts';
import { growthFigures, loadSet, measureReads } from './read-growth.ts';
import { openRoundTripCounter } from './round-trips.ts';
import { measureSettings, settingsNames } from './settings.ts';
import { type BenchSystem, type SystemOptions, startSystem } from './system.ts';
import { type Figure, printTable } from './table.ts';
import { measureWebhooks } from './webhooks.ts';

const usage = `Measures the system, and what its operations cost compared with bare routes on the same data and engine:

  npm run bench

  --tickets 100000   how many tickets the large set has; the small one has 1,000
  --seconds 4        how long each load lasts
  --only get,search  the operations to compare: ${[...operationNames, ...dialogueNames, ...settingsNames].join(', ')}, events, webhooks, attachments, attacks
  --attack TEXT      only the attacks whose names contain this
  --profile          writes CPU profiles of the services to bench/results
  --servers COMMAND  the command that kills and starts a Kafka broker, as in npm run faults; without it only the
                     outage of the embedded log is measured
`;

const smallCount = 1000;
const resultsFolder = join(import.meta.dirname, 'results');

interface BenchOptions {
  /** How many tickets the large set has. */
  tickets: number;
  seconds: number;
  only: readonly string[];
  /** What the names of the attacks must contain. */
  attack: string;
  profiles: string | undefined;
  servers: string | undefined;
}

/** The processes of a run, which share a data folder. */
interface Bench {
  folder: string;
  /** Functions that stop the started processes, called in reverse order. */
  stops: (() => Promise<void>)[];
  options: BenchOptions;
}

interface Results {
  operations: OperationCosts[];
  figures: Figure[];
}

await runDevelopmentScript(async () => {
  const options = readOptions();
  if (options) await runBench(options);
  else process.stdout.write(usage);
});

/** Reads the command line; undefined if it asks for the usage. */
function readOptions(): BenchOptions | undefined {
  const { values } = parseArgs({
    options: {
      tickets: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '4' },
      only: {
        type: 'string',
        default: [
          ...operationNames,
          ...dialogueNames,
          ...settingsNames,
          'events',
          'webhooks',
          'attachments',
          'attacks',
        ].join(','),
      },
      attack: { type: 'string', default: '' },
      profile: { type: 'boolean', default: false },
      servers: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    tickets: Number(values.tickets),
    seconds: Number(values.seconds),
    only: values.only.split(','),
    attack: values.attack,
    profiles: values.profile ? resultsFolder : undefined,
    servers: values.servers,
  };
}

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
    const hasOperations = operationNames.some((name) => options.only.includes(name));
    const { operations, figures } = hasOperations ? await measureApi(bench) : { operations: [], figures: [] };
    if (settingsNames.some((name) => options.only.includes(name))) figures.push(...(await measureSettingsReads(bench)));
    if (dialogueNames.some((name) => options.only.includes(name))) figures.push(...(await measureDialogues(bench)));
    if (options.only.includes('events')) figures.push(...(await measureEventFlow(bench)));
    if (options.only.includes('webhooks')) figures.push(...(await measureWebhookFlow(bench)));
    if (options.only.includes('attachments')) figures.push(...(await measureFiles(bench)));
    const attackResults = options.only.includes('attacks') ? await measureUnderAttack(bench) : [];
    if (operations.length > 0) process.stdout.write(`\n${printOperations(operations)}\n`);
    process.stdout.write(`\n${printTable(figures)}\n`);
    if (attackResults.length > 0) process.stdout.write(`\n${printAttacks(attackResults)}\n`);
    const file = join(resultsFolder, `${new Date().toISOString().slice(0, 10)}.json`);
    writeFileSync(file, `${JSON.stringify({ operations, figures, attackResults }, null, 2)}\n`);
  } finally {
    await clear();
  }
}

/** Starts the system once before the measurements, so that it is built, and creates the tags of the tickets. */
async function prepare(bench: Bench): Promise<void> {
  progress('the first start, which compiles');
  const system = await start(bench);
  for (let tag = 1; tag <= tagCount; tag++) await system.createTag(`tag ${tag}`);
  await stopProcesses(bench);
}

/** Measures the API with relay, consumers and schedulers off, because they use the processor and the store too. */
async function measureApi(bench: Bench): Promise<Results> {
  const { tickets, seconds, only } = bench.options;
  const { system, bare } = await startApiAndBare(bench);
  const plan = { seconds, progress };
  const smallSet = await loadSet(system, smallCount, plan);
  const small = { count: smallCount, latencies: await measureReads(system, smallSet, plan) };
  const set = await loadSet(system, tickets, plan);
  const large = { count: tickets, latencies: await measureReads(system, set, plan) };
  const counter = await openRoundTripCounter(system.mongodbUri);
  bench.stops.push(counter.close);
  const operations: OperationCosts[] = [];
  for (const name of operationNames.filter((candidate) => only.includes(candidate))) {
    operations.push(await measureOperation(name, set, { ...plan, system, bare, counter }));
  }
  const memory = Object.entries(system.memory()).map(([name, bytes]) => ({
    name: `resident memory of ${name} under load, MB`,
    value: bytes / 1e6,
    goal: { atMost: 200 },
  }));
  await stopProcesses(bench);
  return { operations, figures: [...memory, ...growthFigures(small, large)] };
}

/** Starts the system with the API only, and the bare routes on its engine. */
async function startApiAndBare(bench: Bench): Promise<{ system: BenchSystem; bare: BareProcess }> {
  const environment = Object.fromEntries(
    services.filter(({ roles }) => roles.length > 1).map(({ name }) => [variableOf(name, 'ROLES'), 'api']),
  );
  const system = await start(bench, { profiles: bench.options.profiles, environment });
  const bare = await startBare(system.mongodbUri, system.processes.engine ?? 0);
  bench.stops.push(bare.stop);
  return { system, bare };
}

async function measureSettingsReads(bench: Bench): Promise<Figure[]> {
  const { seconds, only } = bench.options;
  const { system, bare } = await startApiAndBare(bench);
  const figures = await measureSettings(system, bare, { seconds, only, progress });
  await stopProcesses(bench);
  return figures;
}

async function measureDialogues(bench: Bench): Promise<Figure[]> {
  const { seconds, only } = bench.options;
  const { system, bare } = await startApiAndBare(bench);
  const figures = await measureDialogue(system, bare, { seconds, only, progress });
  await stopProcesses(bench);
  return figures;
}

async function measureEventFlow(bench: Bench): Promise<Figure[]> {
  const { seconds, tickets, profiles } = bench.options;
  const system = await start(bench, { profiles });
  const figures = await measureEvents(system, { seconds, rows: tickets, progress });
  await stopProcesses(bench);
  return [...figures, ...(await measureOutage(bench))];
}

async function measureWebhookFlow(bench: Bench): Promise<Figure[]> {
  const { seconds, profiles } = bench.options;
  const system = await start(bench, { profiles });
  const figures = await measureWebhooks(system, { seconds, progress });
  await stopProcesses(bench);
  return figures;
}

async function measureFiles(bench: Bench): Promise<Figure[]> {
  const { seconds, profiles } = bench.options;
  const system = await start(bench, { profiles });
  const figures = await measureAttachments(system, { seconds, progress });
  await stopProcesses(bench);
  return figures;
}

async function measureUnderAttack(bench: Bench): Promise<AttackResult[]> {
  const { seconds, attack, profiles } = bench.options;
  const system = await start(bench, { profiles });
  const results = await measureAttacks(system, { seconds, attack, progress });
  await stopProcesses(bench);
  return results;
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
  return measureBusOutage(system, bus, tickets);
}

async function start({ folder, stops }: Bench, options: SystemOptions = {}): Promise<BenchSystem> {
  const system = await startSystem(folder, options);
  stops.push(system.stop);
  return system;
}

async function stopProcesses({ stops }: Bench): Promise<void> {
  for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
}

function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

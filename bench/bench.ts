import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runDevelopmentScript } from '../tools/dev/run-script.ts';
import { startBare } from './bare-process.ts';
import { embeddedBus, kafkaBus, measureBusOutage } from './bus-outage.ts';
import { fill, tagCount } from './dataset.ts';
import { measureEvents } from './events.ts';
import { type Measured, measure } from './load.ts';
import {
  bareSearch,
  type LoadedSet,
  type OperationName,
  operationNames,
  operations,
  readCursors,
} from './operations.ts';
import { type SystemOptions, startSystem } from './system.ts';
import { type Figure, printTable } from './table.ts';

const usage = `Measures the system against bare routes that do the same work, on the same data and engine, in one run:

  npm run bench

  --tickets 100000   how many tickets the large set has; the small one has 1,000
  --seconds 4        how long each load lasts
  --only get,search  the operations to compare: ${operationNames.join(', ')}, events
  --profile          writes CPU profiles of gateway and tickets to bench/results
  --servers COMMAND  what kills and starts a Kafka broker, as in npm run faults; without it only the embedded log is taken
                     away
`;

const small = 1000;
/** The least that the system may do of what the bare route does. */
const goals: Record<OperationName, number> = { get: 0.5, search: 0.7, create: 0.3, patch: 0.3, getLatest: 0.4 };
const results = join(import.meta.dirname, 'results');

await runDevelopmentScript(async () => {
  const { values } = parseArgs({
    options: {
      tickets: { type: 'string', default: '100000' },
      seconds: { type: 'string', default: '4' },
      only: { type: 'string', default: [...operationNames, 'events'].join(',') },
      profile: { type: 'boolean', default: false },
      servers: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  mkdirSync(results, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'ticketing-bench-'));
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('SIGINT', () => void stopAll().then(() => process.exit(130)));
  const open = async (options: SystemOptions): Promise<Sides> => {
    const system = await startSystem(folder, options);
    stops.push(system.stop);
    const bare = await startBare(system.mongodbUri, system.enginePid);
    stops.push(bare.stop);
    return { system, bare };
  };
  /** The embedded log can be away by itself; a broker only where a command handles it. */
  const withoutBus = async (servers: string | undefined): Promise<Figure[]> => {
    const onKafka = Boolean(process.env.KAFKA_BROKERS);
    if (onKafka && servers === undefined) return [];
    if (!onKafka && servers !== undefined) throw new Error('--servers is for a broker that KAFKA_BROKERS names.');
    const bus = servers === undefined ? await embeddedBus(join(folder, 'bus')) : kafkaBus(servers);
    stops.push(bus.close);
    const system = await startSystem(folder, { environment: bus.environment });
    stops.push(system.stop);
    progress(`${bus.name} is unavailable for a minute`);
    return measureBusOutage(system, bus, Number(values.tickets));
  };
  const close = async () => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) await stop();
  };
  try {
    progress('the first start, which compiles');
    const { system } = await open({});
    for (let tag = 1; tag <= tagCount; tag++) await system.createTag(`tag ${tag}`);
    await close();
    const plan = { seconds: Number(values.seconds), only: values.only.split(','), large: Number(values.tickets) };
    const profiles = values.profile ? results : undefined;
    const figures = await compare(await open({ profiles, environment: { TICKETING_TICKETS_ROLES: 'api' } }), plan);
    await close();
    if (plan.only.includes('events')) {
      const { system: whole } = await open({ profiles });
      const { seconds, large: rows } = plan;
      figures.push(...(await measureEvents(whole, { seconds, rows, progress })));
      await close();
      figures.push(...(await withoutBus(values.servers)));
    }
    process.stdout.write(`\n${printTable(figures)}\n`);
    const file = join(results, `${new Date().toISOString().slice(0, 10)}.json`);
    writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
  } finally {
    await stopAll();
  }
});

interface Sides {
  system: Awaited<ReturnType<typeof startSystem>>;
  bare: Awaited<ReturnType<typeof startBare>>;
}

interface Plan {
  seconds: number;
  large: number;
  only: readonly string[];
}

/** What the API alone does, in processes that do nothing else. */
async function compare(sides: Sides, plan: Plan): Promise<Figure[]> {
  const { system } = sides;
  const { seconds, large, only } = plan;
  const figures: Figure[] = [];
  const pages = new Map<string, Measured>();
  for (const count of [small, large]) {
    progress(`${count} tickets are filled in`);
    const set = { ...(await fill(system.mongodbUri, count)), cursors: await readCursors(system) };
    for (const name of ['search', 'getLatestSkills', 'firstPage', 'offsetPage'] as const) {
      progress(`${name}, ${count} tickets`);
      pages.set(`${name} ${count}`, await measure(system, operations[name](set), { seconds, connections: 4 }));
    }
    if (count !== large) continue;
    for (const name of operationNames.filter((candidate) => only.includes(candidate))) {
      figures.push(...(await compareOne(sides, name, set, plan)));
    }
    for (const [name, bytes] of Object.entries(system.memory())) {
      figures.push({
        name: `resident memory of ${name} under load, each in processes of its own, MB`,
        value: bytes / 1e6,
        goal: { atMost: 200 },
      });
    }
  }
  const p95 = (name: string, count: number) => pages.get(`${name} ${count}`)?.latency.p95 ?? Number.NaN;
  const ratio = (name: string) => p95(name, large) / p95(name, small);
  const sizes = `${large} / ${small} tickets`;
  figures.push(
    { name: `search page by cursor, p95, ${sizes}`, value: ratio('search'), goal: { atMost: 1.3 } },
    { name: `getLatest in scope skills, p95, ${sizes}`, value: ratio('getLatestSkills'), goal: { atMost: 1.5 } },
    { name: `first page with its exact total, p95, ${sizes}`, value: ratio('firstPage') },
    { name: `page at an offset of half the matches, p95, ${sizes}`, value: ratio('offsetPage') },
  );
  for (const [name, { latency }] of pages) figures.push({ name: `${name} tickets: p95, ms`, value: latency.p95 });
  return figures;
}

async function compareOne({ system, bare }: Sides, name: OperationName, set: LoadedSet, { seconds }: Plan) {
  progress(`${name}, ${set.count} tickets, the system`);
  const ours = await measure(system, operations[name](set), { seconds, connections: 16 });
  progress(`${name}, ${set.count} tickets, the bare route`);
  const shots = name === 'search' ? bareSearch(set) : operations[name](set);
  const theirs = await measure(bare, shots, { seconds, connections: 16, rate: ours.fixedRate });
  return compared(name, ours, theirs);
}

function compared(name: OperationName, ours: Measured, theirs: Measured): Figure[] {
  const row = (side: string, { maxRate, latency, cpuMs, loopDelayMs }: Measured): Figure => ({
    name: `  ${name}, ${side}: most per s; p50, p95, p99 in ms at ${Math.round(ours.fixedRate)}/s; CPU ms each`,
    value: maxRate,
    details: { ...latency, cpuMs, ...(loopDelayMs === undefined ? {} : { loopDelayMs }) },
  });
  return [
    {
      name: `${name}: most per s, system / bare`,
      value: ours.maxRate / theirs.maxRate,
      goal: { atLeast: goals[name] },
    },
    row('system', ours),
    row('bare', theirs),
  ];
}

function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

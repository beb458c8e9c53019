import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { withDiskFigures } from './disk-figures.ts';
import { type DiskReserve, diskReserve } from './disk-reserve.ts';
import { openEngine } from './native-engine.ts';
import { listen, loopbackHost } from './wire-server.ts';

const defaultCacheSizeMb = '64';
const checkReserveMs = 250;

/** Resolves on a signal, or when the parent process has exited, which closes the IPC channel. */
const stopRequested = new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => resolve());
  process.once('disconnect', () => resolve());
});

async function main(): Promise<void> {
  const { dataDir, port, cacheSizeMb, reserveMb } = readArguments();
  // The engine would let all users of the machine read its files.
  process.umask(0o077);
  const reserve = diskReserve(dataDir, reserveMb * 1024 * 1024);
  // Recovery needs space too. At the first start there is no folder yet.
  await reserve.prepare().catch(() => undefined);
  const engine = await openEngine({ dataDir, cacheSizeMb });
  try {
    const run = withDiskFigures((message) => engine.roundTrip(message), dataDir);
    const server = await listen(run, port).catch((cause: unknown) => {
      throw new Error(`The embedded MongoDB cannot listen on port ${port} of ${loopbackHost}.`, { cause });
    });
    // With `w: 'majority'` this build acknowledges before the journal is written: a kill then loses acknowledged writes.
    const uri = `mongodb://${loopbackHost}:${server.port}/?directConnection=true&w=1&journal=true`;
    process.stdout.write(`${JSON.stringify({ uri, pid: process.pid })}\n`);
    await Promise.race([stopRequested, keep(reserve)]);
    await server.close();
  } finally {
    await engine.close();
  }
}

/** Checks the reserve without end. A check that fails, for example on a full disk, is made again. */
async function keep(reserve: DiskReserve): Promise<never> {
  for (;;) {
    await reserve.check().catch(() => undefined);
    await setTimeout(checkReserveMs);
  }
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      port: { type: 'string', default: '0' },
      'cache-mb': { type: 'string', default: defaultCacheSizeMb },
      'reserve-mb': { type: 'string', default: '0' },
    },
  });
  if (!values.data) throw new Error('Name the data directory with --data.');
  return {
    dataDir: values.data,
    port: readWholeNumber('--port', values.port, 0, 65_535),
    cacheSizeMb: readWholeNumber('--cache-mb', values['cache-mb'], 16, 1_048_576),
    reserveMb: readWholeNumber('--reserve-mb', values['reserve-mb'], 0, 1_048_576),
  };
}

function readWholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${name} takes a whole number from ${min} to ${max}.`);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`, () => process.exit(1));
}

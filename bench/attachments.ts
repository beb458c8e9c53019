import { join } from 'node:path';
import { signToken } from '@ticketing/testkit/sign-token.ts';
import { attackerProcess } from './attacker-process.ts';
import type { FileOrder, FileReport } from './file-client.ts';
import { type BenchPlan, call, measureLatency, quantile } from './load.ts';
import { watchMemory } from './process-figures.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

const clients = 8;
const fileBytes = 20 * 1024 * 1024;
const readsPerSecond = 50;
/** The services that a file passes through. */
const passed = ['gateway', 'tickets'];

/** Uploads and downloads files of 20 MiB, 8 at once, and measures another caller and the memory meanwhile. */
export async function measureAttachments(system: BenchSystem, { seconds, progress }: BenchPlan): Promise<Figure[]> {
  const tokens = await Promise.all(Array.from({ length: clients }, (_, index) => issueToken(system, 800 + index)));
  const client = attackerProcess<FileOrder>(join(import.meta.dirname, 'file-client.ts'));
  const transfer = async (forMs: number) =>
    JSON.parse(await client.send({ url: system.url, tokens, fileBytes, forMs })) as FileReport;
  const p99 = await openReader(system);
  await p99(seconds);
  progress('a ticket is read while nothing else happens');
  const idle = await p99(seconds * 2);
  progress(`files of 20 MiB, ${clients} at once`);
  const memory = passed.map((name) => watchMemory(system.service(name).pid));
  const forMs = seconds * 3000;
  const [during, report] = await Promise.all([p99(forMs / 1000), transfer(forMs)]);
  const grown = memory.map((one) => one.stop()).map(({ before, peak }) => (peak - before) / 1e6);
  client.stop();
  return [...reportFigures(report), ...costFigures(grown, idle, during)];
}

function reportFigures({ whole, broken, refused, failed, uploadMs, downloadMs }: FileReport): Figure[] {
  for (const text of new Set(failed)) process.stderr.write(`failed: ${text}\n`);
  const name = (what: string) => `20 MiB attachments, ${clients} at once: ${what}`;
  return [
    {
      name: name('admitted and whole; refused, to be sent again'),
      value: whole,
      details: refused,
      goal: { atLeast: 1 },
    },
    { name: name('admitted and not whole, or failed'), value: broken + failed.length, goal: { atMost: 0 } },
    {
      name: name('median upload and download, ms'),
      value: quantile(uploadMs, 0.5),
      details: { download: quantile(downloadMs, 0.5) },
    },
  ];
}

function costFigures(grown: readonly number[], idle: number, during: number): Figure[] {
  return [
    {
      name: 'memory that they add to gateway and tickets together; to each, MB',
      value: grown.reduce((sum, megabytes) => sum + megabytes, 0),
      details: Object.fromEntries(passed.map((name, index) => [name, grown[index] ?? Number.NaN])),
      goal: { atMost: 200 },
    },
    {
      name: 'p99 of another reader meanwhile / idle; ms',
      value: during / idle,
      details: { during, idle },
      goal: { atMost: 2 },
    },
  ];
}

function issueToken({ keys }: BenchSystem, profileId: number): Promise<string> {
  return signToken(keys.issuerKeyFile, { sub: String(profileId), kind: 'serviceWorker', roleId: 1 }, 86_400);
}

/** Makes another caller, who reads a ticket. Returns how its p99 is measured, in ms. */
async function openReader(system: BenchSystem): Promise<(seconds: number) => Promise<number>> {
  const headers = { authorization: `Bearer ${await issueToken(system, 790)}` };
  const ticket = { channel: 'chat', body: 'an ordinary ticket' };
  const { id } = await call({ url: system.url, headers }, { method: 'POST', path: '/ticket', body: ticket });
  return async (seconds) => {
    const load = { seconds, connections: 8, rate: readsPerSecond };
    return (await measureLatency({ url: system.url, headers }, () => ({ method: 'GET', path: `/ticket/${id}` }), load))
      .p99;
  };
}

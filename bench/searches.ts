import { splitWords } from '@ticketing/text/words.ts';
import mongoose from 'mongoose';
import { readTexts, systemDatabase } from './dataset.ts';
import { type BenchPlan, measureLatency, pickAny } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The name of this measurement on the command line. */
export const searchNames = ['searches'] as const;

/** One request at a time, so that a search does not wait for others. */
const load = { connections: 1 };
const kept = 200;

/** Measures searches by the words of tickets and of their messages, and how much of the store the words take. */
export async function measureSearches(
  system: BenchSystem,
  { tickets, seconds, progress }: BenchPlan,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, searches] of Object.entries(await chooseSearches())) {
    progress(`search by ${name}, ${tickets} tickets`);
    const next = () => {
      const filters = [{ key: 'q', comparator: '=', value: pickAny(searches) }];
      return { method: 'POST', path: '/ticket/search', body: { filters, limit: 25 } } as const;
    };
    const { p50, p95 } = await measureLatency(system, next, { seconds, ...load });
    figures.push({ name: `search by ${name} in ${tickets} tickets: p95, ms; p50`, value: p95, details: { p50 } });
  }
  return [...figures, ...(await readBytes(system.mongodbUri, tickets))];
}

/** Searches by words of the texts, by kind: a word is rare in one text, and frequent in at least a fifth of all. */
async function chooseSearches(): Promise<Record<string, string[]>> {
  const texts = (await readTexts()).map(({ body }) => splitWords([body]).filter((word) => /^\p{L}{4,}$/u.test(word)));
  const counts = new Map<string, number>();
  for (const words of texts) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const withCount = (isWanted: (count: number) => boolean) =>
    [...counts].filter(([, count]) => isWanted(count)).map(([word]) => word);
  const rare = withCount((count) => count === 1).slice(0, kept);
  return {
    'a rare word': rare,
    'a frequent word': withCount((count) => count >= texts.length / 5).slice(0, kept),
    'three words': texts
      .filter((words) => words.length >= 30)
      .map((words) => words.slice(20, 23).join(' '))
      .slice(0, kept),
    'the beginning of a word': rare.map((word) => word.slice(0, 4)),
  };
}

/** The bytes of a ticket in the store, and of its indexes. */
async function readBytes(mongodbUri: string, tickets: number): Promise<Figure[]> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const { size, indexSizes } = (await connection
    .getClient()
    .db(systemDatabase)
    .command({ collStats: 'tickets' })) as CollectionStats;
  await connection.close();
  const ofWords = Object.entries(indexSizes).filter(([name]) => /words/i.test(name));
  return [
    { name: 'document of a ticket, bytes', value: size / tickets },
    ...ofWords.map(([name, bytes]) => ({ name: `index ${name}, bytes a ticket`, value: bytes / tickets })),
  ];
}

interface CollectionStats {
  size: number;
  indexSizes: Record<string, number>;
}

import type { BareProcess } from './bare-process.ts';
import { feedCount, fillFeed } from './feed-events.ts';
import { type Address, measure, type NextRequest } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of the settings service on the command line. */
export const settingsNames = ['feed', 'settings'] as const;

/** How the settings service is measured. */
export interface SettingsPlan {
  seconds: number;
  only: readonly string[];
  progress(text: string): void;
}

const pageSize = 500;
const load = { connections: 16 };

/** Measures reads of the settings service through the gateway, as a share of bare routes on the same engine. */
export async function measureSettings(
  system: BenchSystem,
  bare: BareProcess,
  { seconds, only, progress }: SettingsPlan,
): Promise<Figure[]> {
  const compare = async (name: string, ofSystem: NextRequest, ofBare: NextRequest, items: number): Promise<Figure> => {
    progress(`${name}, the system`);
    const measured = await measure(system, ofSystem, { ...load, seconds });
    progress(`${name}, the bare route`);
    const bareMeasured = await measure(bare, ofBare, { ...load, seconds, rate: measured.fixedRate });
    const details = { systemPerSecond: measured.maxRate * items, barePerSecond: bareMeasured.maxRate * items };
    return { name, value: measured.maxRate / bareMeasured.maxRate, details, goal: { atLeast: 0.5 } };
  };
  const figures: Figure[] = [];
  if (only.includes('feed')) {
    progress('the feed is being filled');
    await fillFeed(system.mongodbUri);
    const cursors = await readCursors(system);
    const ofSystem = () => ({ method: 'GET' as const, path: `/event?limit=${pageSize}&after=${anyOf(cursors)}` });
    const ofBare = () => ({ method: 'GET' as const, path: `/event?limit=${pageSize}&after=${anyPage() * pageSize}` });
    const name = `feed: events read per second in pages of ${pageSize} / bare find`;
    figures.push(await compare(name, ofSystem, ofBare, pageSize));
  }
  if (only.includes('settings')) {
    const next = () => ({ method: 'GET' as const, path: '/settings/category/routing' });
    figures.push(await compare('GET /settings/category through the gateway / bare route', next, next, 1));
  }
  return figures;
}

const pages = feedCount / pageSize;
const anyPage = () => Math.floor(Math.random() * pages);

function anyOf(values: readonly string[]): string | undefined {
  return values[Math.floor(Math.random() * values.length)];
}

/** The cursors before each full page after the first. */
async function readCursors({ url, headers }: Address): Promise<string[]> {
  const cursors: string[] = [];
  let after = '';
  while (cursors.length < pages - 1) {
    const response = await fetch(`${url}/event?limit=${pageSize}${after}`, { headers });
    if (!response.ok) throw new Error(`The feed responded with ${response.status}.`);
    const { next } = (await response.json()) as { next: string };
    cursors.push(next);
    after = `&after=${next}`;
  }
  return cursors;
}

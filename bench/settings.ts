import type { BareProcess } from './bare-process.ts';
import { feedCount, fillFeed } from './feed-events.ts';
import { type Address, type BenchPlan, call, compareWithBare, pickAny } from './load.ts';
import type { BenchSystem } from './system.ts';
import type { Figure } from './table.ts';

/** The names of the measurements of the settings service on the command line. */
export const settingsNames = ['feed', 'settings'] as const;

const pageSize = 500;

/** Measures reads of the settings service through the gateway, as a share of bare routes on the same engine. */
export async function measureSettings(system: BenchSystem, bare: BareProcess, plan: BenchPlan): Promise<Figure[]> {
  const figures: Figure[] = [];
  if (plan.only.includes('feed')) {
    plan.progress('the feed is being filled');
    await fillFeed(system.mongodbUri);
    const cursors = await readCursors(system);
    const ofSystem = () => ({ method: 'GET' as const, path: `/event?limit=${pageSize}&after=${pickAny(cursors)}` });
    const ofBare = () => ({ method: 'GET' as const, path: `/event?limit=${pageSize}&after=${anyPage() * pageSize}` });
    const name = `feed: events read per second in pages of ${pageSize} / bare find`;
    const goal = { atLeast: 0.5 };
    figures.push(await compareWithBare({ name, goal, items: pageSize }, [system, ofSystem], [bare, ofBare], plan));
  }
  if (plan.only.includes('settings')) {
    const next = () => ({ method: 'GET' as const, path: '/settings/category/routing' });
    const measured = { name: 'GET /settings/category through the gateway / bare route', goal: { atLeast: 0.5 } };
    figures.push(await compareWithBare(measured, [system, next], [bare, next], plan));
  }
  return figures;
}

const pages = feedCount / pageSize;
const anyPage = () => Math.floor(Math.random() * pages);

/** The cursors before each full page after the first. */
async function readCursors(system: Address): Promise<string[]> {
  const cursors: string[] = [];
  let after = '';
  while (cursors.length < pages - 1) {
    const path = `/event?limit=${pageSize}${after}`;
    const { next } = await call<{ next: string }>(system, { method: 'GET', path });
    cursors.push(next);
    after = `&after=${next}`;
  }
  return cursors;
}

import { KnowledgeStatus, KnowledgeType } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { parentTree } from '@ticketing/runtime/parent-tree.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { skipWaits } from '@ticketing/testkit/skip-waits.ts';
import { expect, test } from 'vitest';
import { readSources } from './read.ts';
import type { SourceNode, SourceTree } from './rules/state.ts';
import type { StoredSource } from './schema.ts';
import type { SourceStore } from './store.ts';

const node: SourceNode = {
  ...{ id: 1, version: 1, parent: null, teams: [], status: KnowledgeStatus.ACTIVE, type: KnowledgeType.FAQ },
  ...{ excluded: false, modifiedAt: 0, bytes: 0 },
};
const toTree = (revision: number, teams: number[]): SourceTree => ({
  ...parentTree(new Map([[1, { ...node, teams }]])),
  revision,
});
const stored = (revision: number, text: string): StoredSource => ({
  ...node,
  ...{ source: '', name: 'n', title: 't', text, tags: [], confidential: false, createdAt: 0, readers: [], revision },
});
const runtime = { ...systemRuntime, random: () => 0 };
const call = { caller: { teams: [] as number[] } } as unknown as Call;

/** Reads source 1 in a store whose trees and documents follow one another. */
function read(trees: SourceTree[], documents: StoredSource[][]) {
  const [first, ...later] = trees;
  if (!first) throw new Error('there is no tree');
  const sources = {
    tree: async () => later.shift() ?? first,
    read: async () => documents.shift() ?? [],
  } as unknown as SourceStore;
  return readSources({ sources, runtime }, call, [1], first);
}

test('a text that was written after the teams were closed is not shown with the open ones from before', async () => {
  const [shown] = await read([toTree(1, []), toTree(3, [5])], [[stored(3, 'Geheimnis')], [stored(3, 'Geheimnis')]]);
  expect(shown?.blocked).toHaveLength(1);
});

test('a text from before the teams were opened is not shown with the open ones from afterwards', async () => {
  const [shown] = await read([toTree(1, []), toTree(4, [])], [[stored(2, 'Geheimnis')], [stored(4, 'offen')]]);
  expect([shown?.blocked, shown?.source.text]).toEqual([[], 'offen']);
});

test('a source that is deleted while it is read is left out, and one that changes all the time is 503', async () => {
  skipWaits();
  expect(await read([toTree(1, [])], [[]])).toEqual([]);
  expect(await read([toTree(1, []), toTree(2, [])], [[stored(2, 'x')], []])).toEqual([]);
  const changing = Array.from({ length: 1_000 }, () => [stored(9, 'x')]);
  await expect(read([toTree(1, [])], changing)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
});

import { create } from '@bufbuild/protobuf';
import {
  CreateKnowledgeSourceRequestSchema,
  UpdateKnowledgeSourceRequestSchema,
} from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeType } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { createLogger } from '@ticketing/runtime/logger.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { editorCall, type KnowledgeHarness, startHarness } from '../../test/harness.ts';
import { newProcess } from '../../test/new-process.ts';
import { createKnowledgeSource } from './create.ts';
import { openTextWork } from './text-work.ts';
import { updateKnowledgeSource } from './update.ts';

let knowledge: KnowledgeHarness;
let database: Database;

beforeAll(async () => {
  knowledge = await startHarness();
  database = await knowledge.openDatabase();
});
afterAll(async () => {
  await database.close();
  await knowledge.stop();
});

const mebi = 1024 * 1024;
const hostile: [string, string][] = [
  ['<', '<'.repeat(mebi)],
  ['[', '['.repeat(mebi)],
  ['nested lists', Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}- x`).join('\n')],
];

// guarantee: I8
test('hostile texts of 1 MiB are cleaned, and block the service for no more than 50 ms', async () => {
  const process = newProcess(database);
  const write = async (title: string, text: string) => {
    const request = create(CreateKnowledgeSourceRequestSchema, { type: KnowledgeType.FAQ, name: 'n', title, text });
    const { knowledgeSource } = await createKnowledgeSource(process, editorCall, request);
    const changes = { id: knowledgeSource?.id ?? 0, updateMask: { paths: ['text'] }, text: `${text}x` };
    await updateKnowledgeSource(process, editorCall, create(UpdateKnowledgeSourceRequestSchema, changes));
    return knowledgeSource?.text;
  };
  // The first requests also compile code.
  await write('kurz', 'kurz');
  await write('lang', 'lang '.repeat(200_000));
  for (const [name, text] of hostile) {
    const stored = await withoutBlocking(50, () => write(name, text));
    expect(stored, name).not.toMatch(/<(?:script|a\s)|javascript:/);
  }
  await process.textWork.close();
});

// guarantee: I8
test('the original of a text is not kept', async () => {
  const { id } = await knowledge.create({ text: '<p onclick="boese()">gut</p>' });
  const document = await knowledge.database.collection<{ _id: number; text: string }>('sources').findOne({ _id: id });
  expect(document?.text).toBe('<p>gut</p>');
  expect(JSON.stringify(document)).not.toContain('boese');
});

// guarantee: I8
test('a text beyond the limits of the worker is kept with its tags and links escaped', async () => {
  const work = openTextWork(createLogger('test', 'silent'), { timeoutMs: 1 });
  const text = `${'<b>'.repeat(100_000)}[x](javascript:alert(1))\n[y]: javascript:alert(1)`;
  const cleaned = await work.clean(text, 'user 1');
  expect(cleaned.text.startsWith('&lt;b>&lt;b>')).toBe(true);
  expect(cleaned.text).not.toContain('](');
  expect(cleaned.text).not.toContain(']:');
  expect(cleaned.textWords).toContain('b');
  await work.close();
});

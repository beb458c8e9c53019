import { create } from '@bufbuild/protobuf';
import {
  CreateTemplateRequestSchema,
  DeleteTemplateRequestSchema,
  UpdateTemplateRequestSchema,
} from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { fileContext } from '@ticketing/files/file-context.ts';
import { sweepFiles } from '@ticketing/files/sweep-files.ts';
import { outboundGuard } from '@ticketing/outbound/outbound-guard.ts';
import { systemRuntime } from '@ticketing/runtime/runtime.ts';
import type { Call } from '@ticketing/service-kit/call/call.ts';
import { erasedIds } from '@ticketing/store/ids/erased-ids.ts';
import { idSequence } from '@ticketing/store/ids/id-sequence.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { testDatabase } from '@ticketing/testkit/test-database.ts';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { emailTemplateStore } from '../email-template/store.ts';
import { setUpStore } from '../set-up-store.ts';
import { createTemplate } from './create.ts';
import { deleteTemplate } from './delete.ts';
import { templateDeletionStore } from './deletion-store.ts';
import { dropDeletedFromAiAgents } from './drop-from-ai-agents.ts';
import type { DeletionParts, TemplateParts } from './open.ts';
import { erasedCollections, type TemplateDocument } from './schema.ts';
import { templateStore } from './store.ts';
import { updateTemplate } from './update.ts';

const connection = await testDatabase();
const outbound = outboundGuard({ allow: [], requireHttps: true });
const bytes = seededBytes(10);
const templates = () => connection.collection<TemplateDocument>('templates');

beforeAll(() => setUpStore(connection, true));
afterEach(async () => {
  vi.restoreAllMocks();
  await clear();
});

async function clear(): Promise<void> {
  for (const name of ['templates', 'fileRecords', 'files.chunks']) {
    await connection.collection(name).deleteMany({});
  }
}

/** The templates that AI agents have dropped. */
let dropped: number[] = [];
const dropTemplate = async ({ templateId }: { templateId: number }) => {
  dropped.push(templateId);
  return {};
};

const settings = async () => ({ genericTemplateId: undefined, fileMibPerDay: 2048 });

/** The dependencies of another process, with a clock that is some hours ahead. It calls no other service. */
function newProcess(hoursFromNow = 0): TemplateParts & DeletionParts {
  const now = () => Date.now() + hoursFromNow * 3_600_000;
  const runtime = { ...systemRuntime, now };
  const parts: Partial<TemplateParts & DeletionParts> = {
    files: fileContext(connection, { outbound, runtime, settings }),
    templates: templateStore(connection, runtime),
    templateIds: idSequence(connection, 'template', now),
    wrappers: { emailTemplates: emailTemplateStore(connection, runtime), settings },
    erased: {
      tickets: erasedIds(connection, erasedCollections.tickets, now),
      tags: erasedIds(connection, erasedCollections.tags, now),
    },
    deletions: templateDeletionStore(connection, now),
    rendering: { findViolations: async () => [] } as unknown as TemplateParts['rendering'],
    clients: { snapshots: () => ({}) } as unknown as TemplateParts['clients'],
    aiAgents: (() => ({ dropTemplate })) as unknown as DeletionParts['aiAgents'],
    runtime,
  };
  return parts as TemplateParts & DeletionParts;
}

/** A call, with an `Idempotency-Key` if there is an id that the first request has reserved. */
function toCall(reservedId?: number): Call {
  if (reservedId === undefined) return testCall();
  const idempotency = {
    id: 'first',
    reserve: async () => reservedId,
    reserved: () => undefined,
    addSubject: () => undefined,
  };
  return testCall({}, { idempotency });
}

const toFile = (content: Buffer) => ({ name: 'a', base64: content.toString('base64') });

function newTemplate(contents: readonly Buffer[], reservedId?: number) {
  const request = create(CreateTemplateRequestSchema, { message: 'Hello', attachments: contents.map(toFile) });
  return createTemplate(newProcess(), toCall(reservedId), request);
}

/** Runs the sweeper as another process would, some hours later. */
function sweep(hoursFromNow: number): Promise<void> {
  const { files, templates } = newProcess(hoursFromNow);
  return sweepFiles(files, templates.readFileKeys);
}

/** The lists of the files of all templates, after a check that exactly these files are stored, whole. */
async function listedFiles(
  message: string,
  contents: readonly Buffer[] = [bytes],
): Promise<(readonly AttachmentState[])[]> {
  const lists = (await templates().find().toArray()).map(({ attachments }) => attachments);
  const listed = lists
    .flat()
    .map(({ key }) => key)
    .sort();
  const keysIn = async (name: string, field: string) => (await connection.collection(name).distinct(field)).sort();
  expect(await keysIn('fileRecords', '_id'), message).toEqual(listed);
  expect(await keysIn('files.chunks', 'files_id'), message).toEqual(listed);
  expect(await connection.collection('fileRecords').countDocuments({ checkAt: { $exists: true } }), message).toBe(0);
  for (const { key, size } of lists.flat()) {
    const pieces: Uint8Array[] = [];
    for await (const piece of newProcess().files.files.read(key, { start: 0, end: size })) pieces.push(piece);
    const read = Buffer.concat(pieces);
    expect(
      contents.some((content) => content.equals(read)),
      message,
    ).toBe(true);
  }
  return lists;
}

describe('a process that dies between any two writes leaves no file that nothing lists, and no template without a file that it lists:', {
  timeout: 120_000,
}, () => {
  // guarantee: I16
  it('a creation', async () => {
    // The first file has two chunks.
    const contents = [seededBytes(1024 * 1024 + 1), bytes];
    const steps = await crashAtEachWrite(async (nth, when) => {
      const hasDied = await crashAtWrite(nth, when, () => newTemplate(contents));
      await sweep(2);
      const lists = await listedFiles(`${when} write ${nth}`, contents);
      expect([[], [2]]).toContainEqual(lists.map(({ length }) => length));
      await clear();
      return hasDied;
    });
    // Each file needs a record and its chunks; then come the claim and the template.
    expect(steps).toBeGreaterThanOrEqual(6);
  });

  // guarantee: I16
  it('a creation that is repeated with its Idempotency-Key', async () => {
    await crashAtEachWrite(async (nth, when) => {
      const hasDied = await crashAtWrite(nth, when, () => newTemplate([bytes], 77));
      const { template } = await newTemplate([bytes], 77);
      await sweep(2);
      const lists = await listedFiles(`${when} write ${nth}`);
      expect(lists.map((list) => list.map(({ id }) => id))).toEqual([template?.attachments.map(({ id }) => id)]);
      await clear();
      return hasDied;
    });
  });

  // guarantee: I16
  it('a change of the list', async () => {
    const steps = await crashAtEachWrite(async (nth, when) => {
      const { template } = await newTemplate([bytes, bytes]);
      // Both files are known to be listed, as they are an hour after they were stored.
      await sweep(2);
      const [kept, dropped] = template?.attachments.map(({ id }) => id) ?? [];
      const request = create(UpdateTemplateRequestSchema, {
        id: template?.id ?? 0,
        attachments: [toFile(bytes), { id: kept }],
        updateMask: { paths: ['attachments'] },
      });
      const hasDied = await crashAtWrite(nth, when, () => updateTemplate(newProcess(), testCall(), request));
      await sweep(4);
      const [list = []] = await listedFiles(`${when} write ${nth}`);
      const isChanged = list[1]?.id === kept;
      expect(list.map(({ id }) => id)).toEqual(isChanged ? [list[0]?.id, kept] : [kept, dropped]);
      if (!hasDied) expect(isChanged).toBe(true);
      await clear();
      return hasDied;
    });
    expect(steps).toBeGreaterThanOrEqual(7);
  });

  // guarantee: F17, I16
  it('a deletion', async () => {
    const steps = await crashAtEachWrite(async (nth, when) => {
      const { template } = await newTemplate([bytes, bytes]);
      await sweep(2);
      const request = create(DeleteTemplateRequestSchema, { id: template?.id ?? 0 });
      dropped = [];
      const hasDied = await crashAtWrite(nth, when, () => deleteTemplate(newProcess(), testCall(), request));
      await sweep(4);
      await dropDeletedFromAiAgents(newProcess(4));
      const lists = await listedFiles(`${when} write ${nth}`);
      expect(hasDied ? [[], [2]] : [[]]).toContainEqual(lists.map(({ length }) => length));
      // AI agents drop a deleted template, and no other.
      expect(dropped.length > 0, `${when} write ${nth}`).toBe(lists.length === 0);
      expect(await connection.collection('templateDeletions').countDocuments()).toBe(0);
      await clear();
      return hasDied;
    });
    expect(steps).toBeGreaterThanOrEqual(8);
  });
});

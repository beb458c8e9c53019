import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { type Attachment, AttachmentSchema } from '@ticketing/contracts/ticketing/tickets/v1/conversation_pb.ts';
import type { AttachmentState } from '@ticketing/files/attachment.ts';
import { bodyHead, bodyPiece } from '@ticketing/rest/routes/http-body.ts';
import { createGrpcTransport, type GrpcTransport } from '@ticketing/service-kit/client/grpc-transport.ts';
import { serviceClient } from '@ticketing/service-kit/client/service-client.ts';
import { internalTokens } from '@ticketing/service-kit/identity/internal-token.ts';
import type { Database } from '@ticketing/store/connection/database.ts';
import { crashAtEachWrite, crashAtWrite } from '@ticketing/testkit/crash.ts';
import { seededBytes } from '@ticketing/testkit/seed.ts';
import { type StubServer, startStubServer } from '@ticketing/testkit/stub-server.ts';
import { testCall } from '@ticketing/testkit/test-call.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startHarness, type TicketsHarness } from '../../../test/harness.ts';
import { newProcess } from '../../../test/new-process.ts';
import { sweepTicketFiles } from '../../attachment/attachments.ts';
import { copyTemplateFiles, type TemplateFiles } from './text.ts';

const MiB = 1024 * 1024;
const templateId = 5;
const caller = testCaller({ profileId: 42 });

/** The files in the stub of the templates service: their contents by their ids, as pieces. */
let contents: Map<string, readonly Uint8Array[]>;
/** Called before the stub sends the nth piece of a file, counted from 0. */
let beforePiece: (nth: number, signal: AbortSignal) => Promise<void> | void;
/** The callers on whose behalf the stub was called. */
let callers: unknown[];
let templates: StubServer;
let transport: GrpcTransport;
let tickets: TicketsHarness;
let database: Database;
let clientOf: TemplateFiles;

beforeAll(async () => {
  templates = await startStubServer((router) => {
    router.service(TemplateService, {
      async *getTemplateAttachment({ id, attachmentId }, { requestHeader, signal }) {
        const [, claims = ''] = requestHeader.get('authorization')?.split('.') ?? [];
        callers.push(JSON.parse(Buffer.from(claims, 'base64url').toString()).caller?.profileId);
        const pieces = id === templateId ? contents.get(attachmentId) : undefined;
        if (!pieces) throw new ConnectError('Template or attachment not found', Code.NotFound);
        yield { body: bodyHead('image/png', { 'content-length': '1' }) };
        for (const [nth, piece] of pieces.entries()) {
          await beforePiece(nth, signal);
          yield { body: bodyPiece(piece) };
        }
      },
    });
  });
  transport = createGrpcTransport({
    target: `127.0.0.1:${templates.port}`,
    services: [TemplateService],
    defaultTimeoutMs: 20_000,
  });
  tickets = await startHarness();
  database = await tickets.openDatabase();
  const tokens = await internalTokens('tickets', tickets.identity.keys.signingKeyFile('tickets'));
  clientOf = serviceClient(TemplateService, { audience: 'templates', transport, tokens, forwardsCallers: true });
});
beforeEach(() => {
  contents = new Map();
  beforePiece = () => undefined;
  callers = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await clear();
});
afterAll(async () => {
  transport.close();
  await templates.stop();
  await database.close();
  await tickets.stop();
});

/** A context like that of another process, whose clock is some hours ahead. */
const makeContext = (hoursFromNow = 0) => ({
  ...newProcess(tickets, database, hoursFromNow),
  templateFiles: clientOf,
});

function file(id: string, bytes: Uint8Array, changes: MessageInitShape<typeof AttachmentSchema> = {}): Attachment {
  const pieces = Array.from({ length: Math.ceil(bytes.length / MiB) }, (_, index) =>
    bytes.subarray(index * MiB, (index + 1) * MiB),
  );
  contents.set(id, pieces);
  return create(AttachmentSchema, { id, name: `${id}.bin`, size: bytes.length, contentType: 'text/plain', ...changes });
}

const copy = (attachments: readonly Attachment[], beside: AttachmentState[] = [], signal = testCall().signal) =>
  copyTemplateFiles(makeContext(), { ...testCall(), caller, signal }, templateId, attachments, beside);
async function bytesOf({ key, size }: AttachmentState): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of makeContext().files.read(key, { start: 0, end: size })) pieces.push(piece);
  return Buffer.concat(pieces);
}

const collections = ['fileRecords', 'files.chunks'];
const storedDocuments = () =>
  Promise.all(collections.map((name) => tickets.database.collection(name).countDocuments()));

async function clear(): Promise<void> {
  for (const name of collections) await tickets.database.collection(name).deleteMany({});
}

async function expectNothingStored(message?: string): Promise<void> {
  expect(await storedDocuments(), message).toEqual([0, 0]);
}

describe('copies of the files of a template', () => {
  test('are whole, in order, with keys and ids of their own, and read on behalf of the caller', async () => {
    const [large, small] = [seededBytes(3 * MiB + 17), Buffer.from('Grüße')];
    const originals = [
      file('aaaaaaaa', large, { name: 'Preisliste.pdf', contentType: 'application/pdf', fileEnding: 'pdf' }),
      file('bbbbbbbb', small, { inline: true, width: 3, height: 4 }),
      file('cccccccc', Buffer.alloc(0)),
    ];
    const copies = await copy(originals);
    expect(copies).toMatchObject([
      { name: 'Preisliste.pdf', size: large.length, contentType: 'application/pdf', fileEnding: 'pdf', width: null },
      { name: 'bbbbbbbb.bin', size: small.length, inline: true, width: 3, height: 4, fileEnding: null },
      { name: 'cccccccc.bin', size: 0 },
    ]);
    expect(new Set(copies.flatMap(({ id, key }) => [id, key, ...originals.map((one) => one.id)])).size).toBe(9);
    expect((await bytesOf(copies[0] as AttachmentState)).equals(large)).toBe(true);
    expect((await bytesOf(copies[1] as AttachmentState)).equals(small)).toBe(true);
    expect(callers).toEqual([42, 42, 42]);
  });

  test('are removed an hour later if nothing lists them', async () => {
    await copy([file('aaaaaaaa', seededBytes(10))]);
    await sweepTicketFiles(makeContext(0.99));
    expect(await storedDocuments()).toEqual([1, 1]);
    await sweepTicketFiles(makeContext(1.01));
    await expectNothingStored();
  });

  // guarantee: I16
  test('leave nothing if their process dies between any two writes', { timeout: 120_000 }, async () => {
    const steps = await crashAtEachWrite(async (nth, when) => {
      const originals = [file('aaaaaaaa', seededBytes(MiB + 1)), file('bbbbbbbb', seededBytes(1))];
      const hasDied = await crashAtWrite(nth, when, () => copy(originals));
      await sweepTicketFiles(makeContext(2));
      await expectNothingStored(`${when} write ${nth}`);
      return hasDied;
    });
    // Of each file a record and its chunks.
    expect(steps).toBeGreaterThanOrEqual(5);
  });
});

describe('no copy is left, and the request fails,', () => {
  const originals = () => [file('aaaaaaaa', seededBytes(10)), file('bbbbbbbb', seededBytes(3 * MiB))];

  test('if the template or a file was deleted meanwhile', async () => {
    const given = originals();
    contents.delete('bbbbbbbb');
    await expect(copy(given)).rejects.toMatchObject({ reason: 'concurrent_change', code: 'aborted' });
    await expectNothingStored();
  });

  // guarantee: I16
  test('if the templates service is lost in between', async () => {
    beforePiece = (nth) => {
      if (nth === 1) templates.disconnect();
    };
    await expect(copy(originals())).rejects.toMatchObject({ code: 'unavailable', reason: 'templates_unavailable' });
    await expectNothingStored();
  });

  test('if a file has fewer bytes than is said', async () => {
    const [first, second] = originals();
    contents.set('bbbbbbbb', [seededBytes(MiB)]);
    await expect(copy([first, second] as Attachment[])).rejects.toThrow('has 1048576');
    await expectNothingStored();
  });

  test('if a file has more bytes than is said; the rest is not read', async () => {
    const given = originals();
    contents.set('bbbbbbbb', [seededBytes(3 * MiB), seededBytes(1), seededBytes(1)]);
    const cancelled = Promise.withResolvers<void>();
    beforePiece = async (nth, signal) => {
      if (nth < 2) return;
      signal.addEventListener('abort', () => cancelled.resolve());
      await cancelled.promise;
    };
    await expect(copy(given)).rejects.toThrow('has more');
    await expectNothingStored();
    await cancelled.promise;
  });

  test('if its client goes', async () => {
    const leaving = new AbortController();
    beforePiece = (nth) => {
      if (nth === 1) leaving.abort();
    };
    await expect(copy(originals(), [], leaving.signal)).rejects.toThrow('This operation was aborted');
    await expectNothingStored();
  });
});

describe('copies and the files that the message has already', () => {
  const beside = (...sizes: number[]) => sizes.map((size) => ({ size }) as AttachmentState);
  const small = (count: number) =>
    Array.from({ length: count }, (_, index) => file(`${10_000_000 + index}`, Buffer.of(1)));

  test.each<[string, number, number, string?]>([
    ['19 and 1', 19, 1],
    ['20 and none', 20, 0],
    ['20 and 1', 20, 1, 'too_many_attachments'],
    ['21 and none', 21, 0, 'too_many_attachments'],
  ])('are at most 20: %s', async (_, ofTemplate, before, reason) => {
    const copies = copy(small(ofTemplate), beside(...Array.from({ length: before }, () => 1)));
    if (reason === undefined) return expect(await copies).toHaveLength(ofTemplate);
    await expect(copies).rejects.toMatchObject({ reason, violations: [{ pointer: '#/attachments', code: reason }] });
    await expectNothingStored();
    expect(callers).toEqual([]);
  });

  test.each<[number, string?]>([[5 * MiB], [5 * MiB + 1, 'attachments_too_large']])(
    'have at most 25 MiB together: 20 MiB and %i bytes',
    async (before, reason) => {
      const copies = copy([file('aaaaaaaa', Buffer.alloc(20 * MiB))], beside(before));
      if (reason === undefined) return expect((await copies).map(({ size }) => size)).toEqual([20 * MiB]);
      await expect(copies).rejects.toMatchObject({ reason });
      await expectNothingStored();
    },
  );
});

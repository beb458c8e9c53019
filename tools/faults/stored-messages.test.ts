import { expect, test } from 'vitest';
import { judgeStored, type MessageDocuments } from './stored-messages.ts';

/** Ticket 1 with an opening message, a message with a file, and a draft; ticket 2 is deleted. */
const documents: MessageDocuments = {
  tickets: [
    {
      ...{ _id: 1, openingMessageId: 11, conversationIds: [12], draftIds: [13] },
      attachments: [{ key: 'a', size: 3 }],
      ...{ incomingMessages: 1, outgoingMessages: 1, internalMessages: 0 },
    },
    { _id: 2, deletedAt: new Date(), openingMessageId: 21, conversationIds: [22] },
  ],
  conversations: [
    { _id: 12, ticketId: 1, attachments: [{ key: 'b', size: 4 }] },
    { _id: 13, ticketId: 1 },
  ],
  externalMessageIds: [{ _id: '<12>', ticketId: 1, conversationId: 12 }],
  fileRecords: [{ _id: 'a' }, { _id: 'b' }, { _id: 'm', ownerId: 1, part: { id: 11, size: 5 } }],
  chunks: [
    { _id: 'a', bytes: 3 },
    { _id: 'b', bytes: 4 },
    { _id: 'm', bytes: 5 },
  ],
};

test('finds nothing wrong if everything belongs to a ticket', () => {
  expect(judgeStored(documents)).toEqual({
    counts: new Map([[1, { in: 1, out: 1, internal: 0 }]]),
    openingIds: new Set([11]),
    leftOver: [],
    missingFiles: [],
  });
});

test.each<[string, Partial<MessageDocuments>]>([
  ['a message', { conversations: [...documents.conversations, { _id: 14, ticketId: 1 }] }],
  ['a message of a deleted ticket', { conversations: [...documents.conversations, { _id: 22, ticketId: 2 }] }],
  ['an id', { externalMessageIds: [{ _id: '<14>', ticketId: 1, conversationId: 14 }] }],
  ['an id of another ticket', { externalMessageIds: [{ _id: '<12>', ticketId: 3, conversationId: 12 }] }],
  ['an id of a deleted ticket', { externalMessageIds: [{ _id: '<21>', ticketId: 2, conversationId: 21 }] }],
  [
    'a raw mail of a message that is gone',
    {
      fileRecords: [
        ...documents.fileRecords.slice(0, 2),
        { ...documents.fileRecords[2], _id: 'm', part: { id: 22, size: 5 } },
      ],
      chunks: documents.chunks.slice(0, 2),
    },
  ],
  ['the record of a file', { fileRecords: [...documents.fileRecords, { _id: 'c' }] }],
  ['content without a file', { chunks: [...documents.chunks, { _id: 'c', bytes: 1 }] }],
])('reports %s that is left over', (_, change) => {
  expect(judgeStored({ ...documents, ...change }).leftOver).toHaveLength(1);
});

test.each<[string, Partial<MessageDocuments>]>([
  ['has no content', { chunks: documents.chunks.slice(1) }],
  ['lacks a part of its content', { chunks: [{ _id: 'a', bytes: 2 }, ...documents.chunks.slice(1)] }],
])('reports a file that %s', (_, change) => {
  expect(judgeStored({ ...documents, ...change }).missingFiles).toEqual([
    'file a with 3 bytes is listed, but not stored',
  ]);
});

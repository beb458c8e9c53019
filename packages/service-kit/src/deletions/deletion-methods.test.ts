import { toJson } from '@bufbuild/protobuf';
import { readAuditRule } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { deletionMethods } from './deletion-methods.ts';

const all = services.flatMap((entry) => deletionMethods(entry).map((one) => ({ service: entry.name, ...one })));

test('the deletions of each service, and how each request is made again from its ids', () => {
  const made = all.map(({ service, method, requestFor }) => {
    const ids = readAuditRule(method)?.ids.map((name) => (name === 'attachment_id' ? 'abcd1234' : '7')) ?? [];
    return [service, method.name, toJson(method.input, requestFor(ids))];
  });
  expect(made).toEqual([
    ['tickets', 'DeleteTicket', { ticketId: 7 }],
    ['tickets', 'DeleteConversation', { ticketId: 7, conversationId: 7 }],
    ['tickets', 'DeleteAttachment', { ticketId: 7, attachmentId: 'abcd1234' }],
    ['tickets', 'DeleteTag', { id: 7 }],
    ['intents', 'DeleteAiAgent', { id: 7 }],
    ['intents', 'DropTemplate', { templateId: 7 }],
    ['templates', 'DeleteTemplate', { id: 7 }],
    ['templates', 'DeleteEmailTemplate', { id: 7 }],
    ['knowledge', 'UpdateKnowledgeSource', { id: 7, status: 'KNOWLEDGE_STATUS_DELETED', updateMask: 'status' }],
    ['knowledge', 'DeleteSkill', { id: 7 }],
    ['settings', 'DropEmailTemplate', { emailTemplateId: 7 }],
    ['settings', 'DeleteSubchannel', { id: 7 }],
    ['settings', 'DeleteWebhook', { id: 7 }],
  ]);
});

test('ids that are not those of the request are refused', () => {
  const { requestFor } = all.find(({ method }) => method.name === 'DeleteTicket') ?? all[0] ?? expect.fail();
  for (const ids of [[], ['1', '2'], ['x'], ['2147483648'], ['']])
    expect(() => requestFor(ids), String(ids)).toThrow(
      /are not the ids of DeleteTicket|cannot decode field .+ticket_id/,
    );
});

test('a change of a knowledge source is a deletion only by its status', () => {
  const { isDeletion } = all.find(({ method }) => method.name === 'UpdateKnowledgeSource') ?? expect.fail();
  expect(isDeletion({ fields: ['status=deleted'] })).toBe(true);
  expect(isDeletion({ fields: ['status', 'name'] })).toBe(false);
});

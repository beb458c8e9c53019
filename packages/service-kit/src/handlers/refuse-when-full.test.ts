import { create, type DescMethod, type MessageInitShape } from '@bufbuild/protobuf';
import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { readAccessRule } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import { isWriting, refuseWhenFull } from './refuse-when-full.ts';

const methods = services.flatMap(({ contracts }) => contracts.flatMap((contract) => contract.methods));

function guarded(method: DescMethod, isFull: boolean) {
  const handlers = new Map([[method, async () => create(method.output)]]);
  const implementations = [{ service: method.parent, handlers, streams: new Map() }] as never;
  const [refusing] = refuseWhenFull(implementations, { isFull: () => isFull });
  return (request: MessageInitShape<typeof method.input>) =>
    refusing?.handlers.get(method)?.({} as never, create(method.input, request));
}

// guarantee: F1
test('on a full disk these go on: all that is read, deletions, and what services tell each other', () => {
  const going = methods.filter((method) => !isWriting(method) && readAccessRule(method)?.case !== 'service');
  const names = going.map(({ name }) => name).filter((name) => !/^(Get|List|Search|Find|Follow|Export)/.test(name));
  expect(names.sort()).toEqual([
    'DeleteAiAgent',
    'DeleteAttachment',
    'DeleteConversation',
    'DeleteEmailTemplate',
    'DeleteSkill',
    'DeleteSubchannel',
    'DeleteTag',
    'DeleteTemplate',
    'DeleteTicket',
    'DeleteWebhook',
    'PreviewTemplate',
  ]);
  const writing = methods.filter(isWriting).map(({ name }) => name);
  expect(writing.length).toBeGreaterThan(25);
  expect(writing).toEqual(expect.arrayContaining(['CreateTicket', 'UpdateTickets', 'ReceiveMail', 'ExecuteIntent']));
});

const { updateKnowledgeSource } = KnowledgeService.method;

test('a method that writes is refused before its handler is called, with how long to wait', async () => {
  const request = { id: 1, updateMask: { paths: ['name'] } };
  await expect(guarded(updateKnowledgeSource, true)(request)).rejects.toMatchObject({
    ...{ code: 'unavailable', reason: 'storage_full', retryAfterSeconds: 5, followsChange: false },
  });
  expect(await guarded(updateKnowledgeSource, false)(request)).toBeDefined();
});

test('a change of status that deletes goes on, and nothing that only looks like it', async () => {
  const update = guarded(updateKnowledgeSource, true);
  const request = { id: 1, status: KnowledgeStatus.DELETED };
  expect(await update({ ...request, updateMask: { paths: ['status'] } })).toBeDefined();
  for (const other of [
    { ...request, updateMask: { paths: ['name'] } },
    { id: 1, status: KnowledgeStatus.ARCHIVED, updateMask: { paths: ['status'] } },
  ]) {
    await expect(update(other)).rejects.toMatchObject({ reason: 'storage_full' });
  }
});

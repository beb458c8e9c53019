import { create, type DescMethod, type MessageInitShape } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { KnowledgeService } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_service_pb.ts';
import { KnowledgeStatus } from '@ticketing/contracts/ticketing/knowledge/v1/knowledge_source_pb.ts';
import { SettingsService } from '@ticketing/contracts/ticketing/settings/v1/settings_service_pb.ts';
import { WebhookService } from '@ticketing/contracts/ticketing/settings/v1/webhook_service_pb.ts';
import { AttachmentService } from '@ticketing/contracts/ticketing/tickets/v1/attachment_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { readAccessRule, readAuditRule, readRestRule } from '@ticketing/rest/codec/options.ts';
import type { AuditedChange } from '@ticketing/store/audit/audit-chain.ts';
import { services } from '@ticketing/system/services.ts';
import { expect, test, vi } from 'vitest';
import type { Call } from '../call/call.ts';
import { serviceCaller } from '../identity/caller.ts';
import { auditChanges } from './audit-changes.ts';

/** An audit log that records its calls, in order. */
function recorder() {
  const steps: unknown[][] = [];
  return {
    steps,
    begin: async (change: AuditedChange) => {
      steps.push(['begin', change]);
      return 'change';
    },
    complete: async (id: string, created: readonly string[]) => void steps.push(['complete', id, created]),
    discard: async (id: string) => void steps.push(['discard', id]),
  };
}

const warn = vi.fn();
const call = { caller: serviceCaller('intents'), trace: { traceId: 'f00d' }, log: { warn } } as unknown as Call;

function audited(method: DescMethod, handler: () => Promise<unknown>, log: Parameters<typeof auditChanges>[1]) {
  const implementation = { service: method.parent, handlers: new Map([[method, handler]]), streams: new Map() };
  const [made] = auditChanges([implementation] as never, log);
  const wrapped = made?.handlers.get(method);
  return (request: MessageInitShape<typeof method.input>) => wrapped?.(call, create(method.input, request));
}

test('a change is recorded with its ids and fields before it is made, and its end with what it has created', async () => {
  const log = recorder();
  const handle = async () => {
    log.steps.push(['handler']);
    return create(WebhookService.method.createWebhook.output, { webhook: { webhook: { id: 12 } } });
  };
  const response = await audited(WebhookService.method.createWebhook, handle, log)({});
  expect(response).toMatchObject({ webhook: { webhook: { id: 12 } } });
  await audited(
    WebhookService.method.updateWebhook,
    handle,
    log,
  )({
    id: 3,
    url: 'https://secret.example.org',
    updateMask: { paths: ['url', 'status', 'nothing', 'url'] },
  } as never);
  const actor = { kind: 'service', id: 'intents' };
  const method = 'ticketing.settings.v1.WebhookService';
  const created = { kind: 'Webhook', ids: [] };
  expect(log.steps).toEqual([
    ['begin', { actor, method: `${method}.CreateWebhook`, subject: created, fields: [], traceId: 'f00d' }],
    ['handler'],
    ['complete', 'change', ['12']],
    [
      'begin',
      {
        actor,
        method: `${method}.UpdateWebhook`,
        subject: { kind: 'Webhook', ids: ['3'] },
        fields: ['url', 'status'],
        traceId: 'f00d',
      },
    ],
    ['handler'],
    ['complete', 'change', []],
  ]);
});

test('the ids of all items of a request are recorded, except a text that is no id', async () => {
  const log = recorder();
  const handle = async () => create(SettingsService.method.updateSettings.output);
  const names = ['aiBaseUrl', 'a name with spaces', 'x'.repeat(64), 'x'.repeat(65), undefined];
  const settings = names.map((name) => (name === undefined ? {} : { name }));
  await audited(SettingsService.method.updateSettings, handle, log)({ settings } as never);
  const { deleteAttachment } = AttachmentService.method;
  await audited(deleteAttachment, handle, log)({ ticketId: 5, attachmentId: 'abcd1234' } as never);
  const subjects = log.steps
    .filter(([step]) => step === 'begin')
    .map(([, change]) => (change as AuditedChange).subject);
  expect(subjects).toEqual([
    { kind: 'Setting', ids: ['aiBaseUrl', 'x'.repeat(64)] },
    { kind: 'Attachment', ids: ['5', 'abcd1234'] },
  ]);
});

test('a request that deletes by a value of a field is recorded with this value, and any other without', async () => {
  const log = recorder();
  const { updateKnowledgeSource } = KnowledgeService.method;
  const handle = async () => create(updateKnowledgeSource.output);
  const change = audited(updateKnowledgeSource, handle, log);
  const paths = ['name', 'status'];
  for (const status of [KnowledgeStatus.DELETED, KnowledgeStatus.ARCHIVED])
    await change({ id: 4, status, name: 'secret', updateMask: { paths } } as never);
  await change({ id: 4, status: KnowledgeStatus.DELETED, updateMask: { paths: ['name'] } } as never);
  const fields = log.steps.filter(([step]) => step === 'begin').map(([, entry]) => (entry as AuditedChange).fields);
  expect(fields).toEqual([['name', 'status=deleted'], ['name', 'status'], ['name']]);
});

test('a request that was refused is forgotten, and one that may have changed something is not', async () => {
  const { deleteWebhook } = WebhookService.method;
  const stepsAfter = async (error: Error) => {
    const log = recorder();
    await expect(audited(deleteWebhook, () => Promise.reject(error), log)({})).rejects.toBe(error);
    return log.steps.map(([step]) => step);
  };
  expect(await stepsAfter(notFound('Webhook'))).toEqual(['begin', 'discard']);
  expect(await stepsAfter(new DomainError('unavailable', 'store_unavailable', ''))).toEqual(['begin']);
  expect(await stepsAfter(new Error('crashed'))).toEqual(['begin']);
});

// asvs: 16.5.3
test('nothing is changed if the change cannot be recorded, and a change that was made stays made', async () => {
  const { deleteWebhook } = WebhookService.method;
  const handle = vi.fn(async () => create(deleteWebhook.output, { success: true }));
  const unavailable = () => Promise.reject(new DomainError('unavailable', 'store_unavailable', ''));
  const before = audited(deleteWebhook, handle, { ...recorder(), begin: unavailable })({});
  await expect(before).rejects.toMatchObject({ reason: 'store_unavailable', followsChange: false });
  expect(handle).not.toHaveBeenCalled();
  expect(await audited(deleteWebhook, handle, { ...recorder(), complete: unavailable })({})).toMatchObject({
    success: true,
  });
  expect(warn).toHaveBeenCalledOnce();
});

const rightsOfAdministrators = [
  'manageAiAgents',
  'manageKnowledge',
  'manageSkills',
  'manageTags',
  'manageTemplates',
  'manageWebhooks',
  'updateClientSettings',
];
/** Methods with such a right that configure nothing: they send events again, or copy customers from another system. */
const configureNothing = ['TestWebhook', 'RecoverWebhook', 'RedeliverWebhookDelivery', 'ImportCustomers'];

// guarantee: C11
test('every method that deletes something, or that needs a right to configure the system, has an audit rule', () => {
  const methods = services.flatMap(({ contracts }) => contracts.flatMap((contract) => contract.methods));
  const mustBeAudited = (method: DescMethod) => {
    if (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) return false;
    const access = readAccessRule(method);
    const configures = access?.case === 'right' && rightsOfAdministrators.includes(access.value);
    const drops = readRestRule(method)?.method === 'DELETE' || /^(Delete|Drop)/.test(method.name);
    // An admin may change the note of somebody else, and the text of a mail.
    const changesStatement = ['UpdateConversation', 'ReadMailAgain'].includes(method.name);
    return drops || changesStatement || (configures && !configureNothing.includes(method.name));
  };
  const listNames = (all: readonly DescMethod[]) => all.map(({ name }) => name).sort();
  expect(listNames(methods.filter((method) => readAuditRule(method)))).toEqual(
    listNames(methods.filter(mustBeAudited)),
  );
  expect(listNames(methods)).toEqual(expect.arrayContaining(configureNothing));
});

test('an audit rule names ids that its messages have, or the start fails', () => {
  const methods = services.flatMap(({ contracts }) => contracts.flatMap((contract) => contract.methods));
  for (const method of methods) {
    const rule = readAuditRule(method);
    if (!rule) continue;
    audited(method, async () => undefined, recorder());
    expect(rule.ids.length > 0, method.name).toBe(rule.createdId === '');
  }
});

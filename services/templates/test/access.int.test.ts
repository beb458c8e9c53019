import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { readAccessRule, readRestRule } from '@ticketing/rest/codec/options.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startHarness, type TemplatesHarness } from './harness.ts';

let harness: TemplatesHarness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

/** Requests that change nothing, with whether they need the right manageTemplates. */
const requests: readonly (readonly [method: string, path: string, needsRight: boolean])[] = [
  ['GET', '/template', false],
  ['POST', '/template', true],
  ['GET', '/template/{id}', false],
  ['PATCH', '/template/{id}', true],
  ['DELETE', '/template/{id}', true],
  ['POST', '/template/preview', false],
  ['GET', '/template/{id}/attachment/{attachment_id}', false],
  ['GET', '/emailTemplate', false],
  ['POST', '/emailTemplate', true],
  ['GET', '/emailTemplate/{id}', false],
  ['PATCH', '/emailTemplate/{id}', true],
  ['DELETE', '/emailTemplate/{id}', true],
];

it('every method with a route is in the matrix of rights, as its contract says', () => {
  const methods = [TemplateService, EmailTemplateService].flatMap((service) => service.methods);
  const declared = methods.map((method) => {
    const access = readAccessRule(method);
    return [
      readRestRule(method)?.method,
      readRestRule(method)?.path,
      access?.case === 'right' && access.value === 'manageTemplates',
    ];
  });
  expect(declared.sort()).toEqual(requests.toSorted());
  expect(new Set(RenderingService.methods.map((method) => readAccessRule(method)?.case))).toEqual(new Set(['service']));
});

const toPath = (path: string) => path.replace('{id}', '99999').replace('{attachment_id}', 'aaaaaaaa');

it.each(requests)('%s %s needs the right manageTemplates: %s', async (method, path, needsRight) => {
  const send = async (caller: object) => {
    // Nothing has this id, and the body is invalid, so that a caller with access gets an error about that.
    const body = ['GET', 'DELETE'].includes(method) ? {} : { body: { unknown: 1 } };
    const { status, json } = await harness.request(method, toPath(path), { caller, ...body });
    return status === 403 ? json.code : 'allowed';
  };
  const withoutRight = needsRight ? 'missing_right' : 'allowed';
  expect(await send({})).toBe(withoutRight);
  expect(await send({ permissions: ['manageTags', 'manageKnowledge', 'updateClientSettings'] })).toBe(withoutRight);
  expect(await send({ kind: 'serviceWorker', profileId: 9 })).toBe(withoutRight);
  expect(await send({ permissions: ['manageTemplates'] })).toBe('allowed');
  expect(await send({ roleId: 1 })).toBe('allowed');
});

it.each(requests)('%s %s needs a token, for this service', async (method, path) => {
  const url = harness.url + toPath(path);
  expect((await harness.fetch(url, { method })).status).toBe(401);
  const token = await harness.identity.issuerToken({ permissions: ['manageTemplates'] });
  expect((await harness.fetch(url, { method, headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
});

import { DomainError } from '@ticketing/errors/domain-error.ts';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { replyWithProblems, requestPath, sendProblem } from './problem-reply.ts';

function server(handler: () => unknown) {
  const reported: DomainError[] = [];
  const context = { findTraceId: () => 'trace-1', onServerError: (error: DomainError) => void reported.push(error) };
  const app: FastifyInstance = fastify({
    bodyLimit: 10,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply, context),
  });
  replyWithProblems(app, context);
  app.post('/thing/:id', async () => handler());
  onTestFinished(() => app.close());
  return { app, reported };
}

const post = (app: FastifyInstance, init: object = {}) => app.inject({ method: 'POST', url: '/thing/1', ...init });

test.each([
  ['an error', new Error('hunter2')],
  ['an error of a library that has a status', Object.assign(new Error('hunter2'), { statusCode: 500, code: 'X' })],
  ['a text', 'hunter2'],
  ['null', null],
  ['undefined', undefined],
  ['an object', { statusCode: 'x', message: 'hunter2' }],
  // asvs: 13.4.2, 16.5.1
])('shows only the trace of %s, and reports it once', async (_, thrown) => {
  const { app, reported } = server(() => Promise.reject(thrown));
  const response = await post(app);
  expect(response.statusCode).toBe(500);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.json()).toEqual({
    type: 'urn:ticketing:problem:internal',
    title: 'Internal error',
    status: 500,
    instance: '/thing/1',
    success: false,
    code: 'internal',
    traceId: 'trace-1',
  });
  expect(reported.map((error) => error.cause)).toEqual([thrown]);
});

test('does not report an error that the caller may see', async () => {
  const { app, reported } = server(() => Promise.reject(new DomainError('aborted', 'conflict', 'Changed meanwhile.')));
  const response = await post(app);
  expect([response.statusCode, response.json().detail]).toEqual([409, 'Changed meanwhile.']);
  expect(reported).toEqual([]);
});

test.each([
  ['a body that is too large', { payload: { a: 'xxxxxxxxxx' } }, 413, 'body_too_large'],
  ['an unsupported media type', { payload: 'a', headers: { 'content-type': 'a/b' } }, 415, 'unsupported_media_type'],
  ['an invalid media type', { payload: 'a', headers: { 'content-type': ';' } }, 415, 'unsupported_media_type'],
  ['a broken escape in the path', { url: '/thing/%zz' }, 400, 'malformed_request'],
  ['a path parameter that is too long', { url: `/thing/${'a'.repeat(500)}` }, 400, 'malformed_request'],
  ['a path without a route', { url: '/nothing' }, 404, 'route_not_found'],
])('responds to %s with a problem document', async (_, init, status, code) => {
  const { app, reported } = server(() => ({}));
  const response = await post(app, init);
  expect([response.statusCode, response.json().code]).toEqual([status, code]);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.json().instance).toBe(requestPath((init as { url?: string }).url ?? '/thing/1'));
  expect(reported).toEqual([]);
});

test('closes the connection after a 413, and only then', async () => {
  const { app } = server(() => ({}));
  expect((await post(app, { payload: { a: 'xxxxxxxxxx' } })).headers.connection).toBe('close');
  expect((await post(app, { url: '/nothing' })).headers.connection).toBe('keep-alive');
});

test('closes the connection after a 413 of the gateway or of a handler too', async () => {
  const error = new DomainError('resource_exhausted', 'body_too_large', 'The attachments are too large.');
  const { app } = server(() => Promise.reject(error));
  const response = await post(app);
  expect([response.statusCode, response.headers.connection]).toEqual([413, 'close']);
});

// asvs: 14.2.1
test('leaves the query out of the instance', async () => {
  const { app } = server(() => ({}));
  expect((await post(app, { url: '/nothing?token=secret' })).json().instance).toBe('/nothing');
});

import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { findRequestContext } from '../request/context.ts';
import { requestHeaders } from './forwarded-headers.ts';

/** The last part of the `traceparent` that a service gets for a request with these flags. */
function flagsFor(flags: string, isRecorded?: boolean): string | undefined {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}`;
  const request = { headers: { traceparent }, body: undefined } as unknown as FastifyRequest;
  findRequestContext(request).internalAuthorization = 'Bearer token';
  const sampler = isRecorded === undefined ? undefined : { isSampled: () => isRecorded };
  return requestHeaders(request, sampler, undefined).traceparent?.split('-').at(-1);
}

test('a service learns whether the gateway records the trace, else what the client has said', () => {
  expect([flagsFor('00'), flagsFor('01')]).toEqual(['00', '01']);
  expect([flagsFor('00', true), flagsFor('01', true)]).toEqual(['01', '01']);
  expect([flagsFor('00', false), flagsFor('01', false)]).toEqual(['00', '00']);
});

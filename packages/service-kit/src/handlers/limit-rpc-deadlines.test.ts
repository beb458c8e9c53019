import type { DescMethod } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { EventService } from '@ticketing/contracts/ticketing/settings/v1/event_service_pb.ts';
import { expect, test } from 'vitest';
import { limitRpcDeadlines } from './limit-rpc-deadlines.ts';

/** The deadline that reaches Connect. */
function passedOn(name: string, value: string, method: DescMethod = EventService.method.listEvents): string | null {
  const seen: Headers[] = [];
  const handlers = [Object.assign((request: { header: Headers }) => seen.push(request.header), { method })];
  limitRpcDeadlines({ handlers } as unknown as ConnectRouter);
  handlers[0]?.({ header: new Headers({ [name]: value }) });
  return seen[0]?.get(name) ?? null;
}

test.each([
  ['30000m', '30000m'],
  ['30001m', '30000m'],
  ['30S', '30S'],
  ['31S', '30000m'],
  ['99999999H', '30000m'],
  ['30000000u', '30000000u'],
  ['30000001u', '30000m'],
  ['0n', '0n'],
  ['1x', '1x'],
])('the gRPC deadline %s becomes %s', (given, expected) => {
  expect(passedOn('grpc-timeout', given)).toBe(expected);
});

test.each([
  ['30000', '30000'],
  ['30001', '30000'],
  ['9999999999', '30000'],
  ['0', '0'],
  ['99999999999', '99999999999'],
])('the Connect deadline %s becomes %s', (given, expected) => {
  expect(passedOn('connect-timeout-ms', given)).toBe(expected);
});

test('a stream without an end keeps the deadline that its client asks for', () => {
  expect(passedOn('grpc-timeout', '99999999H', EventService.method.followEvents)).toBe('99999999H');
});

import { Code, ConnectError } from '@connectrpc/connect';
import { ProblemSchema } from '@ticketing/contracts/ticketing/api/v1/problem_pb.ts';
import { DomainError, type ErrorCode, invalidInput } from '@ticketing/errors/domain-error.ts';
import { toConnectError } from '@ticketing/errors/error-table.ts';
import { toDomainError } from '@ticketing/errors/translate-error.ts';
import { expect, test } from 'vitest';
import { problemHeaders, toProblem } from './problem.ts';

const at = { instance: '/ticket/1', traceId: 'trace' };

const table: [ErrorCode, number, Code, string][] = [
  ['invalid_argument', 400, Code.InvalidArgument, 'Bad request'],
  ['out_of_range', 400, Code.OutOfRange, 'Bad request'],
  ['unauthenticated', 401, Code.Unauthenticated, 'Unauthenticated'],
  ['permission_denied', 403, Code.PermissionDenied, 'Unauthorized'],
  ['not_found', 404, Code.NotFound, 'The detail'],
  ['already_exists', 409, Code.AlreadyExists, 'Conflict'],
  ['aborted', 409, Code.Aborted, 'Conflict'],
  ['failed_precondition', 409, Code.FailedPrecondition, 'Conflict'],
  ['resource_exhausted', 429, Code.ResourceExhausted, 'Too many requests'],
  ['unimplemented', 404, Code.Unimplemented, 'Not found'],
  ['unavailable', 503, Code.Unavailable, 'Service unavailable'],
  ['deadline_exceeded', 504, Code.DeadlineExceeded, 'Deadline exceeded'],
  ['canceled', 499, Code.Canceled, 'Request canceled'],
  ['data_loss', 500, Code.DataLoss, 'Internal error'],
  ['unknown', 500, Code.Unknown, 'Internal error'],
  ['internal', 500, Code.Internal, 'Internal error'],
];

// spec: 16.2, 39.1, 39.3
test.each(table)('responds to %s with %i, and with the matching code over RPC', (code, status, rpc, title) => {
  const error = new DomainError(code, 'some_reason', 'The detail');
  const shown = status === 500 ? {} : { detail: 'The detail' };
  expect(toProblem(error, at)).toEqual({
    type: 'urn:ticketing:problem:some_reason',
    title,
    status,
    ...shown,
    instance: '/ticket/1',
    success: false,
    code: 'some_reason',
    traceId: 'trace',
  });
  expect(toConnectError(error).code).toBe(rpc);
});

test.each([
  ['failed_precondition', 'stale_version', 412],
  ['invalid_argument', 'idempotency_key_reused', 422],
  ['resource_exhausted', 'body_too_large', 413],
  ['invalid_argument', 'unsupported_media_type', 415],
  ['unimplemented', 'method_not_allowed', 405],
  ['invalid_argument', 'headers_too_large', 431],
  ['unavailable', 'upstream_failed', 502],
] as const)('responds to %s because of %s with %i', (code, reason, status) => {
  expect(toProblem(new DomainError(code, reason, 'x'), at).status).toBe(status);
});

test.each(['internal', 'unknown', 'data_loss'] as const)(
  // spec: 39.3
  'reveals nothing of an error %s in the REST and RPC APIs',
  (code) => {
    const error = new DomainError(code, code, 'password is hunter2', { cause: new Error('hunter2') });
    expect(JSON.stringify(toProblem(error, at))).not.toContain('hunter2');
    expect(toConnectError(error).message).not.toContain('hunter2');
  },
);

test('reports each violation and its pointer in the REST and RPC APIs', () => {
  const error = invalidInput([{ pointer: '#/a', code: 'required', detail: 'is required' }]);
  expect(toProblem(error, at).errors).toEqual([{ pointer: '#/a', code: 'required', detail: 'is required' }]);
  const [problem] = toConnectError(error).findDetails(ProblemSchema);
  expect(problem).toMatchObject({
    reason: 'required',
    errors: [{ pointer: '#/a', code: 'required', detail: 'is required' }],
  });
});

test('has no errors member without violations', () => {
  expect(toProblem(new DomainError('aborted', 'x', 'x'), at)).not.toHaveProperty('errors');
});

test('restores a domain error that went through RPC in this process', () => {
  const error = new DomainError('aborted', 'x', 'x');
  expect(toDomainError(error)).toBe(error);
  expect(toDomainError(toConnectError(error))).toBe(error);
});

test.each([
  [new ConnectError('too big', Code.ResourceExhausted), 'resource_exhausted'],
  [new ConnectError('bad', Code.InvalidArgument), 'invalid_argument'],
  [new ConnectError('late', Code.DeadlineExceeded), 'deadline_exceeded'],
  [new ConnectError('gone', Code.Canceled), 'canceled'],
])('keeps an error of the transport itself: %s', (thrown, code) => {
  expect(toDomainError(thrown)).toMatchObject({ code, reason: code, message: thrown.rawMessage });
});

test.each([
  ['an error', new Error('secret')],
  ['an internal error of RPC', new ConnectError('secret', Code.Internal)],
  ['an unknown error of RPC', new ConnectError('secret', Code.Unknown)],
  ['an error that another service is unavailable', new ConnectError('secret', Code.Unavailable)],
  ['a text', 'secret'],
  ['undefined', undefined],
  ['null', null],
])('makes %s internal and keeps it as the cause', (_, thrown) => {
  const error = toDomainError(thrown);
  expect([error.code, error.reason, error.message, error.cause]).toEqual([
    'internal',
    'internal',
    'Internal error',
    thrown,
  ]);
});

test.each([
  [401, {}, { 'www-authenticate': 'Bearer' }],
  [400, {}, {}],
  [429, {}, { 'retry-after': '1' }],
  [503, {}, { 'retry-after': '1' }],
  [504, {}, { 'retry-after': '1' }],
  [429, { retryAfterSeconds: 17 }, { 'retry-after': '17' }],
  [503, { retryAfterSeconds: 0 }, { 'retry-after': '0' }],
])('sends with %i the headers that belong to it', (status, options, headers) => {
  expect(problemHeaders(new DomainError('unavailable', 'x', 'x', options), status)).toEqual({
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...headers,
  });
});

test('says in the title what was not found, and why only in the detail', () => {
  const found = (detail: string, options = {}) => toProblem(new DomainError('not_found', 'x', detail, options), at);
  const title = 'Intent not found';
  expect(found('It was deleted: tx_1.', { title })).toMatchObject({ title, detail: 'It was deleted: tx_1.' });
  expect(found('Intent not found: 1')).toMatchObject({ title: 'Intent not found: 1' });
});

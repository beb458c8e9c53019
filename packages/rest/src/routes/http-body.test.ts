import { expect, test } from 'vitest';
import { attachmentHeaders, bodyHead, bodyPiece } from './http-body.ts';

test('the head has type, headers and status, and no bytes', () => {
  expect(bodyHead('text/csv', { 'x-total-count': '2' }, 202)).toEqual({
    $typeName: 'ticketing.api.v1.HttpBody',
    contentType: 'text/csv',
    data: new Uint8Array(),
    status: 202,
    headers: { 'x-total-count': '2' },
  });
  expect(bodyHead('text/csv', {}).status).toBe(0);
});

test('a piece has bytes only', () => {
  const data = new Uint8Array([1, 2]);
  expect(bodyPiece(data)).toEqual({
    $typeName: 'ticketing.api.v1.HttpBody',
    contentType: '',
    data,
    status: 0,
    headers: {},
  });
});

test('an attachment is saved under its name, and its type is never guessed', () => {
  expect(attachmentHeaders('rows.csv')).toEqual({
    'content-disposition': 'attachment; filename="rows.csv"',
    'x-content-type-options': 'nosniff',
  });
});

import { expect, test } from 'vitest';
import { requestUrl } from './request-url.ts';

test('fills in the parameters of the path, encoded', () => {
  expect(
    requestUrl('http://host/', '/ticket/{ticketId}/attachment/{attachmentId}', { ticketId: 7, attachmentId: 'a/b?' }),
  ).toBe('http://host/ticket/7/attachment/a%2Fb%3F');
});

test('refuses a path whose parameter is missing or empty, which would be the address of another operation', () => {
  for (const id of [undefined, null, ''])
    expect(() => requestUrl('http://host', '/tag/{id}', { id })).toThrow(TypeError);
});

test('writes lists as the API reads them, and leaves out what is undefined', () => {
  const query = (values: Record<string, unknown>) => decodeURIComponent(requestUrl('', '/x', {}, values));
  expect(query({ types: ['a', 'b'], limit: 1, after: undefined, all: false })).toBe(
    '/x?types=a&types=b&limit=1&all=false',
  );
  const filters = [
    { key: 'status', comparator: 'in', values: ['open', 'pending'] },
    { key: 'id', comparator: '=', value: 3 },
  ];
  expect(query({ filters })).toBe(
    '/x?filters[0][key]=status&filters[0][comparator]=in&filters[0][values][]=open&filters[0][values][]=pending' +
      '&filters[1][key]=id&filters[1][comparator]==&filters[1][value]=3',
  );
  expect(query({})).toBe('/x');
});

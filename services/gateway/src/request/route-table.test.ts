import { expect, it } from 'vitest';
import { routeTable } from './route-table.ts';
import { upstreams } from './upstreams.ts';

const table = routeTable(upstreams.flatMap(({ contracts }) => contracts));

it('the prefixes are the first segments of the paths in the contracts', () => {
  expect(table.prefixes).toEqual(expect.arrayContaining(['/ticket', '/tag']));
});

it.each([
  ['POST', '/ticket', 'POST /ticket'],
  ['POST', '/ticket/search', 'POST /ticket/search'],
  ['GET', '/ticket/7', 'GET /ticket/{ticket_id}'],
  ['HEAD', '/ticket/7', 'GET /ticket/{ticket_id}'],
  ['GET', '/%74ag', 'GET /tag'],
  ['DELETE', '/ticket/7/attachment/abcdefgh', 'DELETE /ticket/{ticket_id}/attachment/{attachment_id}'],
  ['GET', '/ticket/7/', 'GET /ticket/{ticket_id}'],
  ['GET', '/ticket/7//', undefined],
  ['GET', '/ticket%2F7', undefined],
  ['PUT', '/ticket/7', undefined],
  ['GET', '/Ticket/7', undefined],
  ['GET', '/%E0%A4%A', undefined],
])('finds %s %s as %s', (verb, path, name) => {
  expect(table.find(verb, path)?.name).toBe(name);
});

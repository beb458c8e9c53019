import type { DescMethod, Message } from '@bufbuild/protobuf';
import { TagService } from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError, notFound } from '@ticketing/errors/domain-error.ts';
import { serviceNamed } from '@ticketing/system/services.ts';
import { expect, test } from 'vitest';
import type { Call } from '../call/call.ts';
import { repeatDeletions } from './repeat-deletions.ts';

const { deleteTag } = TagService.method;
const { deleteTicket } = TicketService.method;
const toName = (method: DescMethod) => `${method.parent.typeName}.${method.name}`;

/** Repeats deletions with a handler for each method, which is called with the ids of the request. */
async function repeat(
  deleted: Record<string, string[]>,
  handlers: [DescMethod, (id: number) => void][],
  before: Record<string, string[]> = {},
) {
  const lines: string[] = [];
  const implementations = handlers.map(([method, handle]) => ({
    service: method.parent,
    streams: new Map(),
    handlers: new Map([
      [
        method,
        async (_call: Call, request: Message) => {
          handle(Number(Reflect.get(request, 'id') ?? Reflect.get(request, 'ticketId')));
          return request;
        },
      ],
    ]),
  }));
  const ledger = {
    deleted: new Map(Object.entries(deleted).map(([method, ids]) => [method, new Set(ids)])),
    lastIds: new Map(),
    until: undefined,
    store: undefined,
  };
  const repetition = { entry: serviceNamed('tickets'), implementations, call: {} as Call, deleted: before };
  const left = await repeatDeletions(repetition, ledger, (line) => lines.push(line));
  return { left, lines };
}

test('a deletion that the restored backup knows is not counted as made again, although its handler succeeds', async () => {
  const name = toName(deleteTicket);
  const ignore = () => undefined;
  expect(await repeat({ [name]: ['1', '2', '3'] }, [[deleteTicket, ignore]], { [name]: ['1', '2'] })).toEqual({
    left: 0,
    lines: ['tickets: 1 deletions were made again, 2 had happened before'],
  });
});

const inUse = () => new DomainError('failed_precondition', 'tag_has_children', 'The tag has children.');

test('what is there is deleted again, in the order in which it can be, and what is not there is deleted already', async () => {
  const tags = new Map([
    [1, []],
    [2, [1]],
    [3, [2]],
  ] as [number, number[]][]);
  const removeTag = (id: number) => {
    if (!tags.has(id)) throw notFound('Tag');
    if ([...tags.values()].some(([parent]) => parent === id)) throw inUse();
    tags.delete(id);
  };
  const tickets: number[] = [];
  const result = await repeat({ [toName(deleteTag)]: ['1', '2', '3', '4'], [toName(deleteTicket)]: ['7'] }, [
    [deleteTag, removeTag],
    [deleteTicket, (id) => void tickets.push(id)],
  ]);
  expect(result).toEqual({ left: 0, lines: ['tickets: 4 deletions were made again, 1 had happened before'] });
  expect([...tags, ...tickets]).toEqual([7]);
});

test('what cannot be deleted again is named, and all else is deleted', async () => {
  const refuse = () => {
    throw inUse();
  };
  const { left, lines } = await repeat({ [toName(deleteTag)]: ['1', '2'], [toName(deleteTicket)]: ['7'] }, [
    [deleteTag, refuse],
    [deleteTicket, () => undefined],
  ]);
  expect(left).toBe(2);
  expect(lines).toEqual([
    'tickets: 1 deletions were made again, 0 had happened before',
    `tickets: ${toName(deleteTag)} of 1 could not be made again: The tag has children.`,
    `tickets: ${toName(deleteTag)} of 2 could not be made again: The tag has children.`,
  ]);
});

test('a handler that replaces another one is the one that deletes', async () => {
  const deleted: string[] = [];
  const handle = (name: string) => (id: number) => void deleted.push(`${name} ${id}`);
  await repeat({ [toName(deleteTag)]: ['1'] }, [
    [deleteTag, handle('first')],
    [deleteTag, handle('second')],
  ]);
  expect(deleted).toEqual(['second 1']);
});

test('a deletion that the service does not know, or an unexpected error, ends it', async () => {
  await expect(repeat({ 'x.DropAll': ['1'] }, [])).rejects.toThrow('has no method x.DropAll that deletes something');
  const fail = () => {
    throw new Error('crashed');
  };
  await expect(repeat({ [toName(deleteTag)]: ['1'] }, [[deleteTag, fail]])).rejects.toThrow('crashed');
});

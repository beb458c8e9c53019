import { create } from '@bufbuild/protobuf';
import {
  CreateTagRequestSchema,
  CreateTagResponseSchema,
  TagService,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { takesIdempotencyKey } from '@ticketing/rest/codec/options.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import type {
  ClaimedRequest,
  IdempotencyClaim,
  IdempotencyStore,
} from '@ticketing/store/idempotency/idempotency-store.ts';
import { openPageBudget, type PageBudget } from '@ticketing/store/paging/page-budget.ts';
import { describe, expect, test } from 'vitest';
import type { Call } from '../call/call.ts';
import { serviceCaller } from '../identity/caller.ts';
import { honourIdempotencyKeys } from './honour-idempotency-keys.ts';

interface StoredRecord {
  fingerprint: string;
  owner: string;
  reserved: Record<string, number>;
  response?: Uint8Array;
}

class Crashed extends Error {}

/** Keeps idempotency records and tags in memory, and can crash before or after its nth step. */
class FakeService {
  readonly recordsById = new Map<string, StoredRecord>();
  readonly tags = new Map<number, string>();
  nextId = 1;
  isLeaseExpired = false;
  #steps = 0;
  #claims = 0;
  crashAt: { step: number; when: 'before' | 'after' } | undefined;

  async step<Result>(work: () => Result): Promise<Result> {
    const step = ++this.#steps;
    if (this.crashAt?.step === step && this.crashAt.when === 'before') throw new Crashed();
    const result = work();
    if (this.crashAt?.step === step) throw new Crashed();
    return result;
  }

  get steps(): number {
    return this.#steps;
  }

  readonly records: Pick<IdempotencyStore, 'claim' | 'renew' | 'reserve' | 'complete' | 'release'> = {
    renew: async () => true,
    claim: (id, fingerprint, sender) => this.step((): IdempotencyClaim => this.#claim(id, fingerprint, sender)),
    reserve: (claim, name, proposed) =>
      this.step(() => {
        const record = this.#claimedRecord(claim);
        if (!record) throw new Error('another process has claimed the request');
        record.reserved[name] ??= proposed;
        return record.reserved[name] as number;
      }),
    complete: (claim, response) =>
      this.step(() => {
        const record = this.#claimedRecord(claim);
        if (record) record.response = response;
      }),
    release: (claim) => this.step(() => void (this.#claimedRecord(claim) && this.recordsById.delete(claim.id))),
  };

  #claim(id: string, fingerprint: string, sender: ClaimedRequest['sender']): IdempotencyClaim {
    const record = this.recordsById.get(id);
    if (record?.response) return { state: 'done', fingerprint: record.fingerprint, response: record.response };
    if (record && (!this.isLeaseExpired || record.fingerprint !== fingerprint)) {
      return { state: 'running', fingerprint: record.fingerprint };
    }
    const owner = String(this.#claims++);
    this.recordsById.set(id, { fingerprint, reserved: {}, ...record, owner });
    const reserved = { ...record?.reserved };
    return { state: 'claimed', claim: { id, requestId: `request ${id}`, owner, reserved, sender } };
  }

  #claimedRecord({ id, owner }: ClaimedRequest): StoredRecord | undefined {
    const record = this.recordsById.get(id);
    return record?.owner === owner ? record : undefined;
  }
}

/** Calls a handler that creates a tag with a reserved id, and returns that id. */
async function createTag(
  service: FakeService,
  key: string | undefined,
  name = 'a',
  caller = serviceCaller('x'),
  beforeChange: () => unknown = () => undefined,
  pages: PageBudget = openPageBudget(),
): Promise<{ id: number; isReplayed: boolean }> {
  const [implementation] = honourIdempotencyKeys(
    [
      implement(TagService, service, {
        createTag: async (service, call: Call, request) => {
          await beforeChange();
          const choose = () => service.step(() => service.nextId++);
          const id = await (call.idempotency ? call.idempotency.reserve('tag', choose) : choose());
          await service.step(() => service.tags.set(id, request.name ?? ''));
          return create(CreateTagResponseSchema, { success: true, id });
        },
      }),
    ],
    service.records,
    pages,
  );
  const headers = new Map<string, string>();
  const call = {
    caller,
    header: (header: string) => (header === 'idempotency-key' ? key : undefined),
    setResponseHeader: (header: string, value: string) => void headers.set(header, value),
  } as unknown as Call;
  const response = await implementation?.handlers.get(TagService.method.createTag)?.(
    call,
    create(CreateTagRequestSchema, { name }),
  );
  return { id: (response as unknown as { id: number }).id, isReplayed: headers.get('idempotency-replayed') === 'true' };
}

const readReason = (error: unknown) => (error as DomainError).reason;

describe('a request with an idempotency key', () => {
  test('gets the response of its first execution, whether its key is quoted or not', async () => {
    const service = new FakeService();
    expect(await createTag(service, '"k-1"')).toEqual({ id: 1, isReplayed: false });
    expect(await createTag(service, '"k-1"')).toEqual({ id: 1, isReplayed: true });
    expect(await createTag(service, 'k-1')).toEqual({ id: 1, isReplayed: true });
    expect(service.tags.size).toBe(1);
  });

  test('takes the bytes of the response that it gets again, and can be repeated if they are not free', async () => {
    const service = new FakeService();
    const taken: [string, number][] = [];
    const pages: PageBudget = {
      async take(key, bytes) {
        taken.push([key, bytes]);
        if (taken.length === 1) throw new DomainError('unavailable', 'too_much_at_once', 'full');
      },
    };
    const send = () => createTag(service, 'k', 'a', serviceCaller('x'), undefined, pages);
    await send();
    expect(taken).toEqual([]);
    expect(readReason(await send().catch((error: unknown) => error))).toBe('too_much_at_once');
    expect(await send()).toEqual({ id: 1, isReplayed: true });
    const [record] = service.recordsById.values();
    expect(taken).toEqual(Array(2).fill(['service x', record?.response?.length]));
  });

  test('is executed if its key is new for the caller; a request without a key always is', async () => {
    const service = new FakeService();
    for (const [key, caller] of [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
      [undefined, 'x'],
      [undefined, 'x'],
    ] as const) {
      expect((await createTag(service, key, 'a', serviceCaller(caller))).isReplayed).toBe(false);
    }
    expect(service.tags.size).toBe(5);
  });

  test('is refused if the key was used for a different request', async () => {
    const service = new FakeService();
    await createTag(service, 'a', 'a');
    await expect(createTag(service, 'a', 'b')).rejects.toSatisfy(
      (error) => readReason(error) === 'idempotency_key_reused',
    );
  });

  test('is refused while the first request with the key is running', async () => {
    const service = new FakeService();
    let second: unknown;
    await createTag(service, 'a', 'a', serviceCaller('x'), async () => {
      second = await createTag(service, 'a').catch(readReason);
    });
    expect(second).toBe('idempotency_key_running');
  });

  test('releases its key if it is refused, but not if it may have changed something', async () => {
    const service = new FakeService();
    const failing = (code: 'not_found' | 'unavailable') =>
      createTag(service, 'a', 'a', serviceCaller('x'), () => {
        throw new DomainError(code, code, code);
      }).catch(readReason);
    expect(await failing('not_found')).toBe('not_found');
    expect(service.recordsById.size).toBe(0);
    expect(await failing('unavailable')).toBe('unavailable');
    expect(service.recordsById.size).toBe(1);
  });

  test('makes its change once if the process crashes before or after any step and the request is repeated', async () => {
    const withoutCrash = new FakeService();
    await createTag(withoutCrash, 'a');
    expect(withoutCrash.steps).toBe(5);
    for (let step = 1; step <= withoutCrash.steps; step++) {
      for (const when of ['before', 'after'] as const) {
        const service = new FakeService();
        service.crashAt = { step, when };
        await expect(createTag(service, 'a')).rejects.toThrow(Crashed);
        service.crashAt = undefined;
        service.isLeaseExpired = true;
        const { id } = await createTag(service, 'a');
        expect([...service.tags.keys()], `${when} step ${step}`).toEqual([id]);
        expect(await createTag(service, 'a')).toEqual({ id, isReplayed: true });
      }
    }
  });

  test.each(['', '""', '"a', 'a b', 'ä', '"\\x"', `"${'a'.repeat(256)}"`, 'a'.repeat(256), '"a"b'])(
    'is refused with the key %j',
    async (key) => {
      const reason = await createTag(new FakeService(), key).catch(readReason);
      expect(reason).toBe('invalid_idempotency_key');
    },
  );

  test.each(['a', '"a b"', '"\\"\\\\"', 'a'.repeat(255), `"${'a'.repeat(255)}"`, 'a"b'])(
    'is accepted with the key %j',
    async (key) => {
      expect((await createTag(new FakeService(), key)).id).toBe(1);
    },
  );
});

test('only POST and PATCH methods that write honour a key', () => {
  const names = [...TicketService.methods, ...TagService.methods].filter(takesIdempotencyKey).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['CreateTicket', 'UpdateTicket', 'UpdateTickets', 'CreateTag']));
  for (const name of ['SearchTickets', 'GetLatestTickets', 'GetTicket', 'DeleteTicket', 'ListTags']) {
    expect(names).not.toContain(name);
  }
});

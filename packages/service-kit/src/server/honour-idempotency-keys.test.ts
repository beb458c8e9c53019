import { create } from '@bufbuild/protobuf';
import {
  CreateTagRequestSchema,
  CreateTagResponseSchema,
  TagService,
} from '@ticketing/contracts/ticketing/tickets/v1/tag_service_pb.ts';
import { TicketService } from '@ticketing/contracts/ticketing/tickets/v1/ticket_service_pb.ts';
import { DomainError } from '@ticketing/errors/domain-error.ts';
import { takesIdempotencyKey } from '@ticketing/rest/options.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import type { ClaimedRequest, IdempotencyClaim, IdempotencyStore } from '@ticketing/store/idempotency-store.ts';
import { describe, expect, test } from 'vitest';
import { serviceCaller } from '../identity/caller.ts';
import type { Call } from './call.ts';
import { honourIdempotencyKeys } from './honour-idempotency-keys.ts';

interface Kept {
  fingerprint: string;
  owner: string;
  reserved: Record<string, number>;
  response?: Uint8Array;
}

class Killed extends Error {}

/** Records in memory, and the tags that were made; it dies before or after its nth step. */
class World {
  readonly kept = new Map<string, Kept>();
  readonly tags = new Map<number, string>();
  nextId = 1;
  isAbandoned = false;
  #steps = 0;
  #claims = 0;
  diesAt: { step: number; when: 'before' | 'after' } | undefined;

  async step<Result>(work: () => Result): Promise<Result> {
    const step = ++this.#steps;
    if (this.diesAt?.step === step && this.diesAt.when === 'before') throw new Killed();
    const result = work();
    if (this.diesAt?.step === step) throw new Killed();
    return result;
  }

  get steps(): number {
    return this.#steps;
  }

  readonly records: Pick<IdempotencyStore, 'claim' | 'reserve' | 'complete' | 'release'> = {
    claim: (id, fingerprint) => this.step((): IdempotencyClaim => this.#claim(id, fingerprint)),
    reserve: (claim, name, proposed) =>
      this.step(() => {
        const kept = this.#held(claim);
        if (!kept) throw new Error('not held');
        kept.reserved[name] ??= proposed;
        return kept.reserved[name] as number;
      }),
    complete: (claim, response) =>
      this.step(() => {
        const kept = this.#held(claim);
        if (kept) kept.response = response;
      }),
    release: (claim) => this.step(() => void (this.#held(claim) && this.kept.delete(claim.id))),
  };

  #claim(id: string, fingerprint: string): IdempotencyClaim {
    const kept = this.kept.get(id);
    if (kept?.response) return { state: 'done', fingerprint: kept.fingerprint, response: kept.response };
    if (kept && (!this.isAbandoned || kept.fingerprint !== fingerprint)) {
      return { state: 'running', fingerprint: kept.fingerprint };
    }
    const owner = String(this.#claims++);
    this.kept.set(id, { fingerprint, reserved: {}, ...kept, owner });
    return { state: 'claimed', claim: { id, requestId: `request ${id}`, owner, reserved: { ...kept?.reserved } } };
  }

  #held({ id, owner }: ClaimedRequest): Kept | undefined {
    const kept = this.kept.get(id);
    return kept?.owner === owner ? kept : undefined;
  }
}

/** Creates a tag through the layer, as a handler that marks what it does; answers its id. */
async function createTag(
  world: World,
  key: string | undefined,
  name = 'a',
  caller = serviceCaller('x'),
  before: () => void = () => undefined,
): Promise<{ id: number; isReplayed: boolean }> {
  const [served] = honourIdempotencyKeys(
    [
      implement(TagService, {
        createTag: async (call: Call, request) => {
          before();
          const choose = () => world.step(() => world.nextId++);
          const id = await (call.idempotency ? call.idempotency.reserve('tag', choose) : choose());
          await world.step(() => world.tags.set(id, request.name ?? ''));
          return create(CreateTagResponseSchema, { success: true, id });
        },
      }),
    ],
    world.records,
  );
  const headers = new Map<string, string>();
  const call = {
    caller,
    header: (header: string) => (header === 'idempotency-key' ? key : undefined),
    setResponseHeader: (header: string, value: string) => void headers.set(header, value),
  } as unknown as Call;
  const answer = await served?.handlers.get(TagService.method.createTag)?.(
    call,
    create(CreateTagRequestSchema, { name }),
  );
  return { id: (answer as unknown as { id: number }).id, isReplayed: headers.get('idempotency-replayed') === 'true' };
}

const reasonOf = (error: unknown) => (error as DomainError).reason;

describe('a request with a key', () => {
  test('is answered from its first answer, however its key is written', async () => {
    const world = new World();
    expect(await createTag(world, '"k-1"')).toEqual({ id: 1, isReplayed: false });
    expect(await createTag(world, '"k-1"')).toEqual({ id: 1, isReplayed: true });
    expect(await createTag(world, 'k-1')).toEqual({ id: 1, isReplayed: true });
    expect(world.tags.size).toBe(1);
  });

  test('is new for another key and another caller, and without a key', async () => {
    const world = new World();
    for (const [key, caller] of [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
      [undefined, 'x'],
      [undefined, 'x'],
    ] as const) {
      expect((await createTag(world, key, 'a', serviceCaller(caller))).isReplayed).toBe(false);
    }
    expect(world.tags.size).toBe(5);
  });

  test('that says something else is refused', async () => {
    const world = new World();
    await createTag(world, 'a', 'a');
    await expect(createTag(world, 'a', 'b')).rejects.toSatisfy((error) => reasonOf(error) === 'idempotency_key_reused');
  });

  test('that is still running is refused', async () => {
    const world = new World();
    let second: Promise<unknown> = Promise.resolve();
    await createTag(world, 'a', 'a', serviceCaller('x'), () => {
      second = createTag(world, 'a').catch(reasonOf);
    });
    expect(await second).toBe('idempotency_key_running');
  });

  test('that was refused frees its key; one that may have changed something does not', async () => {
    const world = new World();
    const failing = (code: 'not_found' | 'unavailable') =>
      createTag(world, 'a', 'a', serviceCaller('x'), () => {
        throw new DomainError(code, code, code);
      }).catch(reasonOf);
    expect(await failing('not_found')).toBe('not_found');
    expect(world.kept.size).toBe(0);
    expect(await failing('unavailable')).toBe('unavailable');
    expect(world.kept.size).toBe(1);
  });

  test('whose process dies before or after any step is done once by whoever repeats it', async () => {
    const whole = new World();
    await createTag(whole, 'a');
    expect(whole.steps).toBe(5);
    for (let step = 1; step <= whole.steps; step++) {
      for (const when of ['before', 'after'] as const) {
        const world = new World();
        world.diesAt = { step, when };
        await expect(createTag(world, 'a')).rejects.toThrow(Killed);
        world.diesAt = undefined;
        world.isAbandoned = true;
        const { id } = await createTag(world, 'a');
        expect([...world.tags.keys()], `${when} step ${step}`).toEqual([id]);
        expect(await createTag(world, 'a')).toEqual({ id, isReplayed: true });
      }
    }
  });

  test.each(['', '""', '"a', 'a b', 'ä', '"\\x"', `"${'a'.repeat(256)}"`, 'a'.repeat(256), '"a"b'])(
    'is refused with the key %j',
    async (key) => {
      const reason = await createTag(new World(), key).catch(reasonOf);
      expect(reason).toBe('invalid_idempotency_key');
    },
  );

  test.each(['a', '"a b"', '"\\"\\\\"', 'a'.repeat(255), `"${'a'.repeat(255)}"`, 'a"b'])(
    'is accepted with the key %j',
    async (key) => {
      expect((await createTag(new World(), key)).id).toBe(1);
    },
  );
});

test('only POST and PATCH that write honour a key', () => {
  const names = [...TicketService.methods, ...TagService.methods].filter(takesIdempotencyKey).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['CreateTicket', 'UpdateTicket', 'UpdateTickets', 'UpdateConversation', 'CreateTag']),
  );
  for (const name of ['SearchTickets', 'GetLatestTickets', 'GetTicket', 'DeleteTicket', 'ListTags']) {
    expect(names).not.toContain(name);
  }
});

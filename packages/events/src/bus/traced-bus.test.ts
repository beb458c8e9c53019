import type { EndedSpan, Tracer } from '@ticketing/runtime/tracer.ts';
import { expect, test } from 'vitest';
import type { Bus, OutgoingMessage } from './bus.ts';
import { tracedBus } from './traced-bus.ts';

const traceId = 'a'.repeat(32);
const traced: OutgoingMessage = {
  key: '7',
  value: Buffer.from('x'),
  headers: { ce_id: 'evt_1', traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
};
const untraced: OutgoingMessage = { key: '8', value: Buffer.from('y'), headers: { ce_id: 'evt_2' } };

test.each([
  [undefined, true, '01'],
  [undefined, false, '00'],
  [new Error('refused'), true, '01'],
] as const)(
  'a message continues its trace with the span of its publication; one without a trace is unchanged (error: %s, recorded: %s)',
  async (failure, isSampled, flags) => {
    const spans: EndedSpan[] = [];
    const sent: OutgoingMessage[] = [];
    const publish = async (_topic: string, messages: readonly OutgoingMessage[]) => {
      sent.push(...messages);
      if (failure) throw failure;
    };
    const record = (span: EndedSpan) => void spans.push(span);
    const tracer = { isSampled: () => isSampled, record } as unknown as Tracer;
    const published = tracedBus({ publish } as unknown as Bus, tracer).publish('topic', [traced, untraced]);
    expect(
      await published.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ).toBe(failure);
    expect(spans).toHaveLength(1);
    const [span] = spans;
    expect(span).toMatchObject({ name: 'publish topic', kind: 'producer', error: failure && 'failed' });
    expect(span?.trace).toMatchObject({ traceId, parentSpanId: 'b'.repeat(16) });
    expect(sent[0]?.headers).toEqual({ ce_id: 'evt_1', traceparent: `00-${traceId}-${span?.trace.spanId}-${flags}` });
    expect(sent[1]).toBe(untraced);
  },
);

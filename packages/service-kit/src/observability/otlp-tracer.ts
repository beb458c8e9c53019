import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import { type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '@ticketing/runtime/logger.ts';
import type { Trace } from '@ticketing/runtime/trace.ts';
import type { EndedSpan, Tracer } from '@ticketing/runtime/tracer.ts';
import { systemVersion } from '@ticketing/system/version.ts';
import type { TracesConfig } from '../config/traces-config.ts';

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;
/** A collector that does not respond must not delay the end of a process. */
const closeMs = 2_000;

/**
 * Opens a tracer that sends spans in batches to a collector (OTLP over HTTP). Spans that it cannot send are dropped: the
 * first failure in a row is logged, and nothing waits for the collector.
 *
 * The ids of spans are those of `trace.ts`, which every process makes for its log anyway. So spans are made here when they
 * have ended, and the tracer of the SDK, which makes ids itself, is not used (docs/decisions/0053).
 */
export function openOtlpTracer(service: string, config: TracesConfig, log: Logger): Tracer {
  const { url, headers, ratio } = config;
  const processor = new BatchSpanProcessor({
    exporter: reportingExporter(new OTLPTraceExporter({ url, headers, timeoutMillis: 5_000 }), log),
    scheduledDelayMillis: 1_000,
  });
  const resource = resourceFromAttributes({
    ...config.resource,
    'service.name': service,
    'service.namespace': 'ticketing',
    'service.version': systemVersion,
  });
  const sampler = new TraceIdRatioBasedSampler(ratio);
  const running = new AsyncLocalStorage<Trace>();
  const isSampled = ({ traceId }: Trace) =>
    sampler.shouldSample(undefined, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  return {
    isSampled,
    record(span) {
      if (isSampled(span.trace)) processor.onEnd(readableSpan(span, resource));
    },
    run: (trace, work) => running.run(trace, work),
    current: () => running.getStore(),
    async close() {
      const closed = processor.shutdown().catch(() => undefined);
      await Promise.race([closed, setTimeout(closeMs, undefined, { ref: false })]);
    },
  };
}

function readableSpan(ended: EndedSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const { trace, name, kind, durationMs, error, attributes = {}, links = [] } = ended;
  const endMs = performance.timeOrigin + performance.now();
  const context = toContext(trace.traceId, trace.spanId);
  const { parentSpanId } = trace;
  return {
    name,
    kind: kinds[kind],
    spanContext: () => context,
    ...(parentSpanId === undefined ? {} : { parentSpanContext: toContext(trace.traceId, parentSpanId) }),
    startTime: hrTime(endMs - durationMs),
    endTime: hrTime(endMs),
    duration: hrTime(durationMs),
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: error === undefined ? attributes : { ...attributes, 'error.type': error },
    links: links.map(({ traceId, spanId }) => ({ context: toContext(traceId, spanId) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'ticketing', version: systemVersion },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toContext(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

/** Units: seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
}

/** Returns an exporter that logs the first of several failures in a row. */
function reportingExporter(exporter: SpanExporter, log: Logger): SpanExporter {
  let hasFailed = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isFailure = result.error !== undefined;
        if (isFailure && !hasFailed) log.warn({ err: result.error }, 'traces cannot be sent, and are dropped');
        hasFailed = isFailure;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

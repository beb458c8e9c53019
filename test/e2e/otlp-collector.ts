import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A span as a collector receives it. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  name: string;
  attributes: Readonly<Record<string, string>>;
}

/** A collector of OpenTelemetry in this process. */
export interface OtlpCollector {
  url: string;
  spans: readonly CollectedSpan[];
  stop(): Promise<void>;
}

/** Starts a collector that reads OTLP over HTTP in protobuf, as far as the tests look at it. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    if (request.url === '/v1/traces') spans.push(...readRequest(bytes));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The parts of a message by the numbers of their fields. Only fields with bytes are of interest here. */
function readFields(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) fields.set(number, [...(fields.get(number) ?? []), reader.bytes()]);
    else reader.skip(wireType, number);
  }
  return fields;
}

/** ExportTraceServiceRequest: resource_spans 1 {resource 1 {attributes 1}, scope_spans 2 {spans 2}}. */
function readRequest(bytes: Uint8Array): CollectedSpan[] {
  return (readFields(bytes).get(1) ?? []).flatMap((resourceSpans) => {
    const { 1: resource, 2: scopes = [] } = Object.fromEntries(readFields(resourceSpans));
    const { 'service.name': service = '' } = readAttributes(readFields(resource?.[0] ?? new Uint8Array()).get(1));
    return scopes.flatMap((scope) => (readFields(scope).get(2) ?? []).map((span) => ({ service, ...readSpan(span) })));
  });
}

/** Span: trace_id 1, span_id 2, parent_span_id 4, name 5, attributes 9. */
function readSpan(bytes: Uint8Array): Omit<CollectedSpan, 'service'> {
  const fields = readFields(bytes);
  const hex = (number: number) => Buffer.from(fields.get(number)?.[0] ?? []).toString('hex');
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: Buffer.from(fields.get(5)?.[0] ?? []).toString(),
    attributes: readAttributes(fields.get(9)),
  };
}

/** KeyValue: key 1, value 2 {string_value 1}; values of other types are left out. */
function readAttributes(pairs: readonly Uint8Array[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const fields = readFields(pair);
      const text = readFields(fields.get(2)?.[0] ?? new Uint8Array()).get(1)?.[0];
      return [Buffer.from(fields.get(1)?.[0] ?? []).toString(), text ? Buffer.from(text).toString() : ''];
    }),
  );
}

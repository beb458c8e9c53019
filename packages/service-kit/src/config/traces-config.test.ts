import { type Environment, readConfig } from '@ticketing/runtime/config-reader.ts';
import { expect, test } from 'vitest';
import { readTracesConfig } from './traces-config.ts';

const read = (environment: Environment) =>
  readConfig(environment, { service: 'tickets', services: ['tickets'] }, readTracesConfig);
const on = { OTEL_TRACES_EXPORTER: 'otlp' };

test.each<[Environment]>([
  [{}],
  [{ OTEL_TRACES_EXPORTER: 'none' }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }],
])('nothing is recorded with %j', (environment) => {
  expect(read(environment)).toBeUndefined();
});

test('sends all traces to the standard address by default', () => {
  expect(read(on)).toEqual({ url: 'http://localhost:4318/v1/traces', headers: {}, ratio: 1, resource: {} });
});

test('takes address, headers, share and resource from the standard variables', () => {
  const config = read({
    ...on,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x=1',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod',
  });
  expect(config).toEqual({
    url: 'https://collector/otlp/v1/traces',
    headers: { authorization: 'Basic YTpi==', x: '1' },
    ratio: 0.25,
    resource: { 'deployment.environment.name': 'prod' },
  });
  expect(read({ ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/own' })?.url).toBe('http://c/own');
});

test.each([0, 1])('a share of %d is accepted', (ratio) => {
  const sampling = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: String(ratio) };
  expect(read({ ...on, ...sampling })?.ratio).toBe(ratio);
});

test.each([
  { OTEL_TRACES_EXPORTER: 'zipkin' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_TRACES_SAMPLER: 'parentbased_always_on' },
  { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.01' },
  { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '-0.1' },
  { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'half' },
  { OTEL_TRACES_SAMPLER_ARG: '0.5' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@collector' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'authorization' },
])('refuses %j', (environment) => {
  expect(() => read({ ...on, ...environment })).toThrow(/OTEL_\w+ (must be|needs)/);
});

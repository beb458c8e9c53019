import { createLogger } from '@ticketing/runtime/logger.ts';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { failing, key, limits, never, request, useModel } from '../../test/openai-harness.ts';
import { answering, completion, type StubModel, sendJson } from '../../test/stub-model.ts';
import { configuredDetection, type DetectionParts, type DetectionSettings } from './configured.ts';
import type { Detection } from './provider.ts';
import type { Detected } from './rules/detected.ts';

const used = useModel();

describe('the provider that the settings select', () => {
  const builtinResult: Detected = {
    languageCode: 'fr',
    sentiment: null,
    summary: 'By builtin.',
    tags: [],
    spam: null,
    keywords: [],
  };
  const openConfigured = (changed: Partial<DetectionParts> = {}) => {
    const lines: string[] = [];
    const registry = new Registry();
    const builtin: Detection = { detect: async () => builtinResult, close: async () => {} };
    const { onTokens: _, ...rest } = { ...used.parts(), ...changed };
    const log = createLogger('test', 'trace', { write: (line) => void lines.push(line) });
    const detection = configuredDetection({ ...rest, builtin, registry, log });
    const metric = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];
    return { detection, lines, metric };
  };

  test('is builtin without a request, if they say so', async () => {
    used.settings = { ...used.settings, aiProvider: 'builtin' };
    const { detection, metric } = openConfigured();
    expect(await detection.detect(request, never)).toBe(builtinResult);
    expect(used.model.requests).toHaveLength(0);
    expect(await metric('ticketing_detections_total')).toMatchObject([{ labels: { provider: 'builtin' }, value: 1 }]);
    expect(await metric('ticketing_detection_fallbacks_total')).toEqual([]);
  });

  test('is openai, whose tokens are counted', async () => {
    const { detection, lines, metric } = openConfigured();
    expect((await detection.detect(request, never)).summary).toBe('A question.');
    expect(await metric('ticketing_detections_total')).toMatchObject([{ labels: { provider: 'openai' }, value: 1 }]);
    expect(await metric('ticketing_detection_tokens_total')).toMatchObject([{ value: 700 }]);
    expect(lines).toEqual([]);
  });

  const refusal = completion('', { message: { refusal: 'No 4711' } });
  const cases: [string, Partial<DetectionSettings>, StubModel['respond'], Partial<DetectionParts>][] = [
    ['settings_unavailable', {}, answering({}), { settings: () => Promise.reject(new Error('4711')) }],
    ['not_configured', { aiModel: null }, answering({}), {}],
    ['not_configured', { aiBaseUrl: null }, answering({}), {}],
    ['key_unavailable', {}, answering({}), { readKey: () => Promise.reject(new Error(key)) }],
    ['budget', {}, answering({}), { limits: { ...limits, tokensPerMinute: 1 } }],
    ['denied', {}, failing(403), {}],
    ['refusal', {}, (_, to) => sendJson(to, refusal), {}],
    ['invalid_answer', {}, (_, to) => void to.setHeader('content-type', 'application/json').end('4711 {'), {}],
    ['timeout', {}, () => {}, { limits: { ...limits, timeoutMs: 200 } }],
  ];
  // guarantee: I30
  test.each(cases)('is builtin after %s; log and metrics say so, without text or key', async (...one) => {
    const [reason, settings, respond, changed] = one;
    used.settings = { ...used.settings, ...settings };
    used.model.respond = respond;
    const { detection, lines, metric } = openConfigured(changed);
    expect(await detection.detect(request, never)).toBe(builtinResult);
    expect(await metric('ticketing_detection_fallbacks_total')).toMatchObject([{ labels: { reason }, value: 1 }]);
    expect(await metric('ticketing_detections_total')).toMatchObject([{ labels: { provider: 'builtin' }, value: 1 }]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, ticketId: 7, reason });
    expect(lines[0]).not.toMatch(/4711|Zähler|sk-|invoice/i);
  });

  test('does not hide that the caller has gone', async () => {
    const { detection, metric } = openConfigured();
    const caller = new AbortController();
    used.model.respond = () => caller.abort(new Error('gone'));
    await expect(detection.detect(request, caller.signal)).rejects.toThrow('gone');
    expect(await metric('ticketing_detection_fallbacks_total')).toEqual([]);
  });
});

import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { readFieldRules, readRestRule } from '@ticketing/rest/codec/options.ts';
import { services } from '@ticketing/system/services.ts';
import { withoutBlocking } from '@ticketing/testkit/machine-limits.ts';
import { testCaller } from '@ticketing/testkit/test-identity.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../e2e/harness.ts';
import { isRefused, nested, pathsTo, restApi, smallestRequest, toSteps } from './field-request.ts';

const MiB = 1024 * 1024;
const longText = 100_000;
const admin = testCaller({ kind: 'serviceWorker', roleId: 1 });

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const readMaxBytes = (field: DescField | undefined) =>
  field?.scalar === ScalarType.STRING ? (readFieldRules(field).maxBytes ?? 0) : 0;
/** The services whose requests have fields that take long texts, with the ways to these fields. */
const withLongTexts = services
  .map(({ name, contracts }) => ({
    name,
    fields: contracts
      .flatMap(({ methods }) => methods)
      // The handlers are the same over RPC, where a client may refuse a long response.
      .filter((method) => readRestRule(method))
      .flatMap((method) =>
        pathsTo(method.input, (field) => readMaxBytes(field) >= longText).map((path) => ({ method, path })),
      ),
  }))
  .filter(({ fields }) => fields.length > 0);

test.each(withLongTexts)(
  // guarantee: H5
  'the fields of requests to $name that take long texts delay nobody, whatever the text is',
  async ({ name, fields }) => {
    const api = restApi(system.findPorts(name).http, () => system.identity.internalToken(name, admin));
    let accepted = 0;
    for (const { method, path } of fields) {
      const pointer = api.toPointer(method, toSteps(path));
      const maxBytes = readMaxBytes(path.at(-1));
      const send = (text: string) => api.send(method, { ...smallestRequest(method.input, api), ...nested(path, text) });
      const tooLong = await send('a'.repeat(maxBytes + 1));
      expect(isRefused(tooLong, pointer, ['too_long']), `${method.toString()}, ${pointer}`).toBe(true);
      for (const piece of ['<', '<ul><li>', '&amp;', '<a href="x', '"\\\n']) {
        const text = piece.repeat(Math.min(maxBytes, MiB) / piece.length);
        const { reason } = await withoutBlocking(250, () => send(text));
        if (reason === undefined) accepted += 1;
      }
    }
    // Otherwise no text was looked at.
    expect(accepted).toBeGreaterThan(0);
  },
);

import { BSON } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { setParameterMessage, succeeded } from './set-parameter.ts';

describe('setParameterMessage', () => {
  it('is an OP_MSG with the command that the driver would send', () => {
    const message = setParameterMessage('wiredTigerEngineRuntimeConfig', 'cache_size=64M');
    expect(message.readInt32LE(0)).toBe(message.length);
    expect(message.readInt32LE(12)).toBe(2013);
    expect(BSON.deserialize(message.subarray(21))).toEqual({
      setParameter: 1,
      wiredTigerEngineRuntimeConfig: 'cache_size=64M',
      $db: 'admin',
    });
  });
});

describe('succeeded', () => {
  it.each([
    [{ was: 'x', ok: new BSON.Double(1) }, true],
    [{ ok: new BSON.Double(0), errmsg: 'no' }, false],
    [{}, false],
  ])('of the reply %j is %s', (reply, expected) => {
    expect(succeeded(Buffer.from(BSON.serialize(reply)))).toBe(expected);
  });
});

import { expect, it, vi } from 'vitest';
import { addressRules } from './address-rules.ts';
import { guardedConnector } from './guarded-connector.ts';

it.each(['127.0.0.1', '::1', '::ffff:169.254.169.254'])(
  // guarantee: O1
  'dials no address that is refused, for which Node looks up nothing: %s',
  async (hostname) => {
    const resolve = vi.fn(async () => ['93.184.215.14']);
    const connect = guardedConnector({
      rules: addressRules({ allow: [], requireHttps: true }),
      resolve,
      ca: undefined,
    });
    const error = await new Promise((done) =>
      connect({ hostname, protocol: 'https:', port: '1' }, (...[refusal]) => done(refusal)),
    );
    expect(error).toMatchObject({ kind: 'address_refused', code: 'SPECIAL_ADDRESS' });
    expect(resolve).not.toHaveBeenCalled();
  },
);

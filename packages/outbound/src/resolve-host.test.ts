import { Resolver } from 'node:dns/promises';
import { expect, it, vi } from 'vitest';
import { openResolver } from './resolve-host.ts';

const failure = (code: string) => Object.assign(new Error(code), { code });

it.each<[string, string[] | string, string[] | string, string[] | string]>([
  ['both families, IPv4 first', ['192.0.2.1', '192.0.2.2'], ['2001:db8::1'], ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
  ['IPv4 alone', ['192.0.2.1'], 'ENODATA', ['192.0.2.1']],
  ['IPv6 alone', 'ENODATA', ['2001:db8::1'], ['2001:db8::1']],
  ['no address', 'ENOTFOUND', 'ENOTFOUND', 'ENOTFOUND'],
  ['name servers that do not respond', 'ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT'],
])('finds %s', async (_case, four, six, expected) => {
  const respond = async (found: string[] | string) => {
    if (typeof found === 'string') throw failure(found);
    return found;
  };
  vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation(() => respond(four) as never);
  vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(() => respond(six) as never);
  const outcome = await openResolver()('host.example').catch(({ code }) => code);
  expect(outcome).toEqual(expected);
});

it.each(['localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost', 'a.localhost.'])(
  'asks no name server for %s',
  async (name) => {
    const ask = vi.spyOn(Resolver.prototype, 'resolve4').mockRejectedValue(failure('EREFUSED'));
    expect(await openResolver()(name)).toEqual(['127.0.0.1', '::1']);
    expect(ask).not.toHaveBeenCalled();
    expect(await openResolver()(`${name.replace(/\.$/, '')}.example`).catch(({ code }) => code)).toBe('EREFUSED');
  },
);

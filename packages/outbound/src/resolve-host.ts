import { Resolver } from 'node:dns/promises';

/** Finds all addresses of a host name. Errors: those of `node:dns`, with a code. */
export type ResolveHost = (name: string) => Promise<readonly string[]>;

const loopback = ['127.0.0.1', '::1'];

/**
 * Returns a resolver that asks the name servers of this machine. It does not use `dns.lookup`, which takes one of the
 * four threads of the process for as long as a name server does not respond: a few hosts with slow name servers would
 * stop it.
 *
 * Shape: IPv4 addresses first. `localhost` and names below it are the loopback addresses; /etc/hosts and search domains are
 * not used.
 */
export function openResolver(): ResolveHost {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (name) => {
    if (/(^|\.)localhost\.?$/i.test(name)) return loopback;
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}

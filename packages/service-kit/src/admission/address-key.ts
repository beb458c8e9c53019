/**
 * Returns the key under which the address of a client is counted: an IPv4 address, or the /64 network of an IPv6
 * address; empty for a client that has gone.
 */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [left = '', right] = address.split('::');
  const groups = left.split(':').filter((group) => group !== '');
  const tail = right?.split(':').filter((group) => group !== '') ?? [];
  const zeros = Array<string>(Math.max(0, 8 - groups.length - tail.length)).fill('0');
  // A proxy may spell the address of a client with capitals and zeros.
  const network = [...groups, ...zeros, ...tail].slice(0, 4);
  return network.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

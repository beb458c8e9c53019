/** A limit on the connections from one address. */
export interface AddressLimiter {
  /** Counts a connection. Returns false if its address has too many already; it is counted nevertheless. */
  take(connectionId: string, address: string): boolean;
  release(connectionId: string): void;
}

/** Makes a limiter. */
export function addressLimiter(perAddress: number): AddressLimiter {
  const addresses = new Map<string, string>();
  const counts = new Map<string, number>();
  return {
    take(connectionId, address) {
      const count = (counts.get(address) ?? 0) + 1;
      addresses.set(connectionId, address);
      counts.set(address, count);
      return count <= perAddress;
    },
    release(connectionId) {
      const address = addresses.get(connectionId);
      if (address === undefined) return;
      addresses.delete(connectionId);
      const left = (counts.get(address) ?? 0) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    },
  };
}

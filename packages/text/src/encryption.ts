/** The result of encrypting stored secrets with the current key. Units: documents. */
export interface Encryption {
  encrypted: number;
  left: number;
}

/** The line of the log, and of the operation, after which the previous key is not needed any more. */
export const allAreCurrent = 'all secrets are encrypted with the current key';

/** Describes the result for an operator. */
export function describeEncryption(service: string, { encrypted, left }: Encryption): string {
  const end = left === 0 ? allAreCurrent : `${left} were changed meanwhile: run it again`;
  return `${service}: ${encrypted} documents were encrypted again; ${end}`;
}

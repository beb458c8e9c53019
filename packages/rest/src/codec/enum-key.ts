import type { DescEnum } from '@bufbuild/protobuf';
import type { FilterKey } from './filter.ts';
import { readSpellings } from './options.ts';

/** Returns the filter key of an enum that is stored as its JSON spelling. */
export function enumKey(schema: DescEnum): FilterKey {
  return {
    kind: 'enum',
    spellings: new Map([...readSpellings(schema).values()].map((spelling) => [spelling, spelling])),
  };
}

/** Returns the filter key of an enum that is stored as its number, so that it sorts in the order of the contract. */
export function rankKey(schema: DescEnum): FilterKey {
  return { kind: 'enum', spellings: new Map([...readSpellings(schema)].map(([rank, spelling]) => [spelling, rank])) };
}

import type { RecordedIndex } from './recorded-indexes.ts';

/** How a collection is sharded. */
export interface ShardedCollection {
  /** The name of a service, or `every`. */
  service: string;
  collection: string;
  /** The fields of the shard key; undefined if the collection is not sharded. */
  key: readonly string[] | undefined;
}

/** Reads the rows of the table between the comment `name` and the next comment `end`. Errors: there is no such table. */
export function tableRows(document: string, name: string): string[][] {
  const [, table] = new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)<!-- end -->`).exec(document) ?? [];
  if (table === undefined) throw new Error(`The document has no table "${name}".`);
  const lines = table.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Reads the table of shard keys. */
export function shardKeysIn(document: string): ShardedCollection[] {
  return tableRows(document, 'shard keys').flatMap(([service = '', collections = '', key = '']) =>
    codeIn(collections).map((collection) => ({
      service,
      collection,
      key: key === 'not sharded' ? undefined : codeIn(key),
    })),
  );
}

/**
 * Lists the reasons why the collections cannot be sharded as the table says: an index of a collection that has no row,
 * a row without such a collection, and a unique index that does not start with the shard key.
 */
export function shardingProblems(table: readonly ShardedCollection[], indexes: readonly RecordedIndex[]): string[] {
  const toRow = ({ service, collection }: { service: string; collection: string }) =>
    table.find((one) => [service, 'every'].includes(one.service) && one.collection === collection);
  const unlisted = indexes.filter((one) => !toRow(one)).map(toName);
  const unknown = table.filter((row) => !indexes.some((one) => toRow(one) === row)).map(toName);
  const unfit = indexes.filter((index) => {
    const key = toRow(index)?.key;
    return index.isUnique && key !== undefined && !key.every((field, position) => index.fields[position] === field);
  });
  return [
    ...new Set(unlisted.map((name) => `${name} has no shard key`)),
    ...unknown.map((name) => `${name} has no index, or does not exist`),
    ...unfit.map((index) => `${toName(index)} cannot keep (${index.fields.join(', ')}) unique over its shards`),
  ];
}

function toName({ service, collection }: { service: string; collection: string }): string {
  return `${service}.${collection}`;
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

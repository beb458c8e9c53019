import type { DescEnum, DescField } from '@bufbuild/protobuf';
import { ReportingTicketRowSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import type { FilterKey } from '@ticketing/rest/filter.ts';
import { spellingsOf } from '@ticketing/rest/options.ts';

/** A column of the rows, as the contract names and types it. */
export interface RowColumn {
  name: string;
  type: 'text' | 'integer' | 'dateTime';
  /** Whether every row has a value in it. */
  isAlwaysSet: boolean;
  filterKey: FilterKey;
  /** Of a column that is kept as a rank: the spelling of each. */
  spellingOfRank: ReadonlyMap<number, string> | undefined;
}

/** The column whose value depends on when it is read. */
export const computedColumn = 'secondsSinceLastCustomerMessage';

/** The columns that tell of persons. */
const personal = ['email', 'rawData'];
/** The columns that sort by rank. */
const ranked = ['priority'];

/** The columns, in the order of an export. */
export const rowColumns: readonly RowColumn[] = ReportingTicketRowSchema.fields.map(columnOf);

/** The columns that an export may show under a privacy level, and be filtered and ordered by. */
export function shownColumns(privacyLevel: 'none' | 'pseudonymized'): RowColumn[] {
  return rowColumns.filter(({ name }) => privacyLevel === 'none' || !personal.includes(name));
}

function columnOf(field: DescField): RowColumn {
  const name = field.jsonName;
  const isTime = field.message?.typeName === 'google.protobuf.Timestamp';
  const isAlwaysSet = !isTime && field.proto.proto3Optional !== true;
  const common = { name, isAlwaysSet: isAlwaysSet || name === 'createdAt' || name === 'modifiedAt' };
  if (isTime) return { ...common, type: 'dateTime', filterKey: { kind: 'time' }, spellingOfRank: undefined };
  if (field.enum) return { ...common, type: 'text', ...enumColumn(field.enum, ranked.includes(name)) };
  const isInteger = field.fieldKind === 'scalar' && field.scalar !== 9;
  return {
    ...common,
    type: isInteger ? 'integer' : 'text',
    filterKey: { kind: isInteger ? 'integer' : 'text' },
    spellingOfRank: undefined,
  };
}

function enumColumn(schema: DescEnum, isRanked: boolean): Pick<RowColumn, 'filterKey' | 'spellingOfRank'> {
  const spellings = [...spellingsOf(schema)];
  return {
    filterKey: {
      kind: 'enum',
      spellings: new Map(spellings.map(([number, text]) => [text, isRanked ? number : text])),
    },
    spellingOfRank: isRanked ? new Map(spellings) : undefined,
  };
}

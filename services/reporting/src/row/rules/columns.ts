import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { ReportingTicketRowSchema } from '@ticketing/contracts/ticketing/reporting/v1/export_service_pb.ts';
import { enumKey, rankKey } from '@ticketing/rest/codec/enum-key.ts';
import type { FilterKey } from '@ticketing/rest/codec/filter.ts';
import { readSpellings } from '@ticketing/rest/codec/options.ts';

/** A column of the rows, with its name and type from the contract. */
export interface RowColumn {
  name: string;
  type: 'text' | 'integer' | 'dateTime';
  /** Whether every row has a value in this column. */
  isAlwaysSet: boolean;
  filterKey: FilterKey;
  /** For a column that is stored as a rank: the JSON spelling of each rank. */
  spellingOfRank: ReadonlyMap<number, string> | undefined;
}

/** The column that is computed when a row is read, because its value depends on the current time. */
export const computedColumn = 'secondsSinceLastCustomerMessage';

/** The columns with personal data. */
const personalColumns = ['email', 'rawData'];
/** The enum columns that are ordered by rank instead of by spelling. */
const rankedColumns = ['priority'];

/** The columns, in the order in which exports show them. */
export const rowColumns: readonly RowColumn[] = ReportingTicketRowSchema.fields.map(toColumn);

/** Returns the columns that an export may show, filter by and order by under a privacy level. */
export function shownColumns(privacyLevel: 'none' | 'pseudonymized'): RowColumn[] {
  return rowColumns.filter(({ name }) => privacyLevel === 'none' || !personalColumns.includes(name));
}

function toColumn(field: DescField): RowColumn {
  const name = field.jsonName;
  const isTime = field.message?.typeName === 'google.protobuf.Timestamp';
  const isAlwaysSet = !isTime && field.proto.proto3Optional !== true;
  const common = { name, isAlwaysSet: isAlwaysSet || name === 'createdAt' || name === 'modifiedAt' };
  if (isTime) return { ...common, type: 'dateTime', filterKey: { kind: 'time' }, spellingOfRank: undefined };
  if (field.enum) {
    const isRanked = rankedColumns.includes(name);
    const filterKey = isRanked ? rankKey(field.enum) : enumKey(field.enum);
    return { ...common, type: 'text', filterKey, spellingOfRank: isRanked ? readSpellings(field.enum) : undefined };
  }
  const type = field.fieldKind === 'scalar' && field.scalar !== ScalarType.STRING ? 'integer' : 'text';
  return { ...common, type, filterKey: { kind: type }, spellingOfRank: undefined };
}

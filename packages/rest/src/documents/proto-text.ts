import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { findComments } from './comments.ts';

/**
 * Writes a message with all messages and enums of its package that it needs as one proto3 file, with their comments.
 * Options of the contract are left out.
 *
 * Errors: an Error for features that the contracts do not use: maps, oneofs, nested types and messages of further
 * packages.
 */
export function protoText(message: DescMessage): string {
  const types: (DescMessage | DescEnum)[] = [message];
  const imports = new Set<string>();
  for (const type of types) {
    if (type.kind === 'enum') continue;
    for (const used of type.fields.map(declaredType)) {
      if (!used || types.includes(used)) continue;
      if (used.file.proto.package === message.file.proto.package) types.push(used);
      else if (used.typeName.startsWith('google.protobuf.')) imports.add(used.file.proto.name);
      else throw new Error(`${used.typeName} is of another package`);
    }
  }
  return [
    'syntax = "proto3";',
    `package ${message.file.proto.package};`,
    [...imports]
      .sort()
      .map((name) => `import "${name}";`)
      .join('\n'),
    ...types.map((type) => (type.kind === 'enum' ? enumText(type) : messageText(type))),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function messageText(message: DescMessage): string {
  if (message.parent) throw new Error(`${message.typeName} is nested`);
  const fields = message.fields.map((field) => `${comment(field, '  ')}  ${fieldText(field)}`);
  return `${comment(message)}message ${message.name} {\n${fields.join('\n')}\n}`;
}

function fieldText(field: DescField): string {
  if (field.fieldKind === 'map' || field.oneof) throw new Error(`${field.toString()} cannot be written`);
  const type = declaredType(field);
  const isOptional = field.presence === FeatureSet_FieldPresence.EXPLICIT && field.fieldKind !== 'message';
  const label = field.fieldKind === 'list' ? 'repeated ' : isOptional ? 'optional ' : '';
  const name = type ? type.typeName : ScalarType[field.scalar ?? 0]?.toLowerCase();
  return `${label}${name} ${field.name} = ${field.number};`;
}

function enumText(desc: DescEnum): string {
  if (desc.parent) throw new Error(`${desc.typeName} is nested`);
  const values = desc.values.map((value) => `${comment(value, '  ')}  ${value.name} = ${value.number};`);
  return `${comment(desc)}enum ${desc.name} {\n${values.join('\n')}\n}`;
}

function declaredType(field: DescField): DescMessage | DescEnum | undefined {
  return field.message ?? field.enum;
}

function comment(desc: Parameters<typeof findComments>[0], indent = ''): string {
  const { text } = findComments(desc);
  return text === '' ? '' : text.replace(/^/gm, `${indent}// `).concat('\n');
}

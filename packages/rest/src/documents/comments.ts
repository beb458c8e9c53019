import { readFileSync } from 'node:fs';
import {
  type DescEnum,
  type DescEnumValue,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { findLikeField } from '../codec/options.ts';

/** The comment on a part of the contract: paragraphs, separated by an empty line. */
export interface Comments {
  /** The first sentence, without its full stop. Empty if there is no comment. */
  summary: string;
  /** Everything after the first sentence. */
  rest: string;
  /** The whole comment. */
  text: string;
}

type Commented = DescService | DescMethod | DescMessage | DescField | DescEnum | DescEnumValue;

let leadingComments: ReadonlyMap<string, string> | undefined;

/**
 * Returns the comment above a part of a contract. Generated code has no comments, so they are read from the committed
 * descriptor image, at the first call.
 *
 * Shape: a field without a comment has the comment of the field that it is like. The lines of a paragraph are joined; a line that begins with "Errors:" begins a new paragraph. All texts are
 * empty for a part without a comment, and for a contract that is not in the image.
 */
export function findComments(desc: Commented): Comments {
  const known = parsed.get(desc);
  if (known) return known;
  const comments = parse(desc);
  parsed.set(desc, comments);
  return comments;
}

const parsed = new WeakMap<Commented, Comments>();

function parse(desc: Commented): Comments {
  leadingComments ??= readComments();
  const text = joinLines(leadingComments.get(findLocation(desc)) ?? '');
  const likeField = text === '' && desc.kind === 'field' ? findLikeField(desc) : undefined;
  if (likeField) return findComments(likeField);
  const sentence = /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.split('\n', 1)[0] ?? '';
  return { summary: sentence.replace(/\.$/, ''), rest: text.slice(sentence.length).trim(), text };
}

function readComments(): ReadonlyMap<string, string> {
  const image = readFileSync(new URL(import.meta.resolve('@ticketing/contracts/contract.binpb')));
  const comments = new Map<string, string>();
  for (const file of fromBinary(FileDescriptorSetSchema, image).file) {
    for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      if (leadingComments) comments.set(`${file.name}:${path.join(',')}`, leadingComments);
    }
  }
  return comments;
}

/**
 * Returns the location of a part: its file, and its path of field numbers and indexes as in SourceCodeInfo.
 */
function findLocation(desc: Commented): string {
  switch (desc.kind) {
    case 'service':
      return `${desc.file.proto.name}:6,${desc.file.proto.service.indexOf(desc.proto)}`;
    case 'rpc':
      return `${findLocation(desc.parent)},2,${desc.parent.proto.method.indexOf(desc.proto)}`;
    case 'message':
      return desc.parent
        ? `${findLocation(desc.parent)},3,${desc.parent.proto.nestedType.indexOf(desc.proto)}`
        : `${desc.file.proto.name}:4,${desc.file.proto.messageType.indexOf(desc.proto)}`;
    case 'field':
      return `${findLocation(desc.parent)},2,${desc.parent.proto.field.indexOf(desc.proto)}`;
    case 'enum':
      return desc.parent
        ? `${findLocation(desc.parent)},4,${desc.parent.proto.enumType.indexOf(desc.proto)}`
        : `${desc.file.proto.name}:5,${desc.file.proto.enumType.indexOf(desc.proto)}`;
    case 'enum_value':
      return `${findLocation(desc.parent)},2,${desc.parent.proto.value.indexOf(desc.proto)}`;
  }
}

function joinLines(comment: string): string {
  const paragraphs = comment.split(/\n\s*\n|\n(?=\s*Errors:)/);
  return paragraphs
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

import { extname } from 'node:path';
import { htmlTitle } from '@ticketing/html/html-title.ts';
import { cutChars } from '@ticketing/runtime/cut-text.ts';

/** How a file is written. */
export type FileKind = 'markdown' | 'html' | 'text';

const maxTitleLength = 998;
const frontMatter = /^---[ \t]*\n([\s\S]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** The title and the text of a file: of the front matter, else the first heading or `<title>`, else the file's name. */
export function readDocument(content: string, kind: FileKind, name: string): { title: string; text: string } {
  const fileTitle = name.slice(0, name.length - extname(name).length) || name;
  if (kind === 'text') return { title: oneLine(fileTitle), text: content };
  if (kind === 'html') return { title: oneLine(htmlTitle(content)) || oneLine(fileTitle), text: asHtml(content) };
  const [whole = '', properties = ''] = frontMatter.exec(content) ?? [];
  const text = content.slice(whole.length);
  return { title: oneLine(propertyTitle(properties) || readHeading(text)) || oneLine(fileTitle), text };
}

/** The property `title` of a front matter, without its quotes. */
function propertyTitle(properties: string): string {
  const value = /^title:[ \t]*(.*)$/im.exec(properties)?.[1]?.trim() ?? '';
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

/** The first heading outside of code. */
function readHeading(text: string): string {
  let fence: string | undefined;
  let before = '';
  for (const line of text.split('\n')) {
    const [, marks] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (marks !== undefined && (fence === undefined || marks.startsWith(fence)))
      fence = fence === undefined ? marks : undefined;
    if (fence !== undefined || marks !== undefined) continue;
    const heading = withoutClosing(/^ {0,3}#{1,6}[ \t](.*)$/s.exec(line)?.[1] ?? '');
    if (heading !== '') return withoutMarks(heading);
    if (/^ {0,3}(?:=+|-+)[ \t]*$/.test(line) && before.trim() !== '') return withoutMarks(before);
    before = line;
  }
  return '';
}

/** A heading without the number signs that may end it. A pattern would take time that is quadratic in its length. */
function withoutClosing(heading: string): string {
  const text = heading.trim();
  let end = text.length;
  while (text.charAt(end - 1) === '#') end -= 1;
  return end === 0 || /\s/.test(text.charAt(end - 1)) ? text.slice(0, end).trim() : text;
}

function withoutMarks(heading: string): string {
  return heading.replace(/!?\[([^\][]*)\]\([^()]*\)/g, '$1').replace(/[*`]/g, '');
}

/** A text that begins and ends with a tag is taken for HTML. */
function asHtml(content: string): string {
  const html = content.trim();
  return html.startsWith('<') && html.endsWith('>') ? html : `<div>${html}</div>`;
}

function oneLine(text: string): string {
  return cutChars(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), maxTitleLength);
}

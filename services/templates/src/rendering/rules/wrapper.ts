import { sanitiseHtml } from '@ticketing/html/sanitise-html.ts';

/** The place of the message in an e-mail template. Without an e-mail template it is the whole wrapper. */
export const placeholder = '%MESSAGE%';

/**
 * Returns the parts of a wrapper before and after the message. `checkWrapper` makes sure that each is a template by
 * itself.
 */
export function partsAround(wrapper: string): [before: string, after: string] {
  const at = wrapper.indexOf(placeholder);
  return at === -1 ? [wrapper, ''] : [wrapper.slice(0, at), wrapper.slice(at + placeholder.length)];
}

/** Returns the wrapper with the message in it. */
export function mergeTexts(wrapper: string, message: string): string {
  const [before, after] = partsAround(wrapper);
  return before + message + after;
}

/** Whether a message between two parts of HTML is shown as it is: not in a tag, a comment, a style, a title. */
export function showsBetween(before: string, after: string): boolean {
  if (!before.includes('<')) return true;
  // The parts may show the mark by themselves.
  return shownMarks(before + mark + after) > shownMarks(before + after);
}

/** Begins with a letter and has a `>`, because a message can make a tag of `<` in front of it. */
const mark = `m><b>${placeholder}</b>`;
const shownMark = mark.replace('>', '&gt;');

function shownMarks(html: string): number {
  // Adds an element, because a text without one is not read as HTML, and a message has some.
  return sanitiseHtml(`<p></p>${html}`).split(shownMark).length - 1;
}

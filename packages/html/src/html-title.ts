import { Parser } from 'htmlparser2';

/** Returns the title of an HTML document: its `<title>`, else its first heading; empty if it has neither. */
export function htmlTitle(html: string): string {
  const found = { title: '', heading: '' };
  let open: keyof typeof found | undefined;
  let element = '';
  const parser = new Parser({
    onopentag(name) {
      const place = name === 'title' ? 'title' : /^h[1-6]$/.test(name) ? 'heading' : undefined;
      if (open || !place || found[place].trim() !== '') return;
      [open, element] = [place, name];
    },
    ontext(text) {
      if (open) found[open] += text;
    },
    onclosetag(name) {
      if (name === element) open = undefined;
    },
  });
  parser.end(html);
  return found.title.trim() || found.heading.trim();
}

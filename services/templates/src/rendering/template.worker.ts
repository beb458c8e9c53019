import { serveFunctions } from '@ticketing/sandbox/serve-functions.ts';
import { checkTemplate } from './rules/check-template.ts';
import { endProblems, messageProblems, wrapperProblems } from './rules/check-wrapper.ts';
import type { TemplateProblem } from './rules/problem.ts';
import { RefusedTemplate, renderHtml, renderSubject, TooMuchOutput, withTags } from './rules/render-template.ts';
import { partsAround } from './rules/wrapper.ts';

/** What a text is for, by which it is checked. */
export type TextKind = 'message' | 'subject' | 'wrapper';

/** The texts that are rendered with the same values. */
export interface TemplateTexts {
  message: string;
  /** Undefined if the message is rendered alone. */
  wrapper?: string | undefined;
  subject?: string | undefined;
}

/** Rendered texts: HTML, and a subject in plain text. */
export interface RenderedTexts {
  message: string;
  subject: string | undefined;
}

/** What was rendered; what is wrong with a text that is refused; that it would be too long. */
type RenderResult = RenderedTexts | { problems: readonly TemplateProblem[] } | { isTooLong: true };

const checks: Record<TextKind, (text: string) => readonly TemplateProblem[]> = {
  message: messageProblems,
  wrapper: wrapperProblems,
  subject(text) {
    const checked = checkTemplate(text);
    return 'problems' in checked ? checked.problems : [];
  },
};

const functions = {
  problemsOf: (kind: TextKind, text: string): readonly TemplateProblem[] => checks[kind](text),
  /** `json` is an object of values in UTF-8, which those of `more` replace. */
  render(texts: TemplateTexts, json: Uint8Array, more: object): RenderResult {
    const { message, wrapper, subject } = texts;
    try {
      const variables = { ...JSON.parse(Buffer.from(json).toString()), ...more };
      const html = renderHtml(message, variables, wrapper === undefined ? undefined : partsAround(wrapper));
      const problems = endProblems(message);
      if (problems.length > 0) return { problems };
      return {
        message: withTags(html),
        subject: subject === undefined ? undefined : renderSubject(subject, variables),
      };
    } catch (error) {
      if (error instanceof TooMuchOutput) return { isTooLong: true };
      if (error instanceof RefusedTemplate) return { problems: error.problems };
      throw error;
    }
  },
};

/** What the worker does with templates. */
export type TemplateFunctions = typeof functions;

serveFunctions(functions);

import { conditionHelpers } from './condition-helpers.ts';
import { dateHelpers } from './date-helpers.ts';
import type { TemplateHelper } from './helper.ts';
import { textHelpers } from './text-helpers.ts';

/** Every helper that a template may use, besides the blocks `if`, `unless`, `each` and `with` of Handlebars. */
export const helpers: readonly TemplateHelper[] = [...conditionHelpers, ...dateHelpers, ...textHelpers];

/** The blocks of Handlebars that a template may use. Each has one argument. */
export const blocks: readonly string[] = ['if', 'unless', 'each', 'with'];

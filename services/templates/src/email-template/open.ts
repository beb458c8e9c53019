import type { Client } from '@connectrpc/connect';
import { ConfigurationService } from '@ticketing/contracts/ticketing/settings/v1/configuration_service_pb.ts';
import type { OnBehalfOf } from '@ticketing/service-kit/client/service-client.ts';
import type { Kit } from '@ticketing/service-kit/lifecycle/kit.ts';
import { type IdSequence, idSequence } from '@ticketing/store/ids/id-sequence.ts';
import type { PageBudget } from '@ticketing/store/paging/page-budget.ts';
import type { Rendering } from '../rendering/open.ts';
import type { EmailTemplateStore } from './store.ts';

/** The dependencies of the handlers of e-mail templates. */
export interface EmailTemplateParts {
  emailTemplates: EmailTemplateStore;
  emailTemplateIds: IdSequence;
  rendering: Rendering;
  pages: PageBudget;
  /** Opens a client for the settings that name e-mail templates, for a call. */
  configuration(call: OnBehalfOf): Client<typeof ConfigurationService>;
  /** Unsets a deleted e-mail template in all response templates. */
  dropFromTemplates(id: number): Promise<void>;
}

/** Opens the e-mail templates on the database of a kit. */
export function openEmailTemplates(
  { database, pages, openClient }: Pick<Kit<unknown, unknown>, 'database' | 'pages' | 'openClient'>,
  parts: Pick<EmailTemplateParts, 'emailTemplates' | 'rendering' | 'dropFromTemplates'>,
): EmailTemplateParts {
  return {
    ...parts,
    emailTemplateIds: idSequence(database.connection, 'emailTemplate'),
    pages,
    configuration: openClient('settings', ConfigurationService, { timeoutMs: 5_000 }),
  };
}

import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { implement } from '@ticketing/rest/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { openContext } from './application/context.ts';
import { eraseTicket } from './application/drop-deleted.ts';
import { scheduledTasks } from './application/scheduled-tasks.ts';
import { readTemplatesConfig } from './config.ts';
import { eventHandler } from './events/consume.ts';
import { createEmailTemplate } from './rpc/create-email-template.ts';
import { createTemplate } from './rpc/create-template.ts';
import { deleteEmailTemplate, removeEmailTemplate } from './rpc/delete-email-template.ts';
import { deleteTemplate } from './rpc/delete-template.ts';
import { findWrapper } from './rpc/find-wrapper.ts';
import { getEmailTemplate } from './rpc/get-email-template.ts';
import { getTemplate } from './rpc/get-template.ts';
import { getTemplateAttachment } from './rpc/get-template-attachment.ts';
import { listEmailTemplates } from './rpc/list-email-templates.ts';
import { listTemplates } from './rpc/list-templates.ts';
import { previewTemplate } from './rpc/preview-template.ts';
import { renderTemplate } from './rpc/render-template.ts';
import { updateEmailTemplate } from './rpc/update-email-template.ts';
import { updateTemplate } from './rpc/update-template.ts';
import { wrapMessage } from './rpc/wrap-message.ts';
import { readSettings } from './settings.ts';
import { setUpStore } from './store/set-up-store.ts';

/** The templates service. */
export const service = composeService({
  name: 'templates',
  readConfig: readTemplatesConfig,
  readSettings,
  setUpStore,
  compose(kit) {
    const context = openContext(kit);
    return {
      implementations: [
        implement(TemplateService, context, {
          listTemplates,
          createTemplate,
          getTemplate,
          updateTemplate,
          deleteTemplate,
          previewTemplate,
          getTemplateAttachment,
        }),
        implement(EmailTemplateService, context, {
          listEmailTemplates,
          createEmailTemplate,
          getEmailTemplate,
          updateEmailTemplate,
          deleteEmailTemplate,
        }),
        implement(RenderingService, context, { renderTemplate, wrapMessage, findWrapper }),
      ],
      deletionsAlone: [implement(EmailTemplateService, context, { deleteEmailTemplate: removeEmailTemplate })],
      handle: eventHandler(context),
      eraseTicket: (id) => eraseTicket(context, id),
      tasks: scheduledTasks(context, kit.runtime),
    };
  },
});

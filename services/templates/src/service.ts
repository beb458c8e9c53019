import { EmailTemplateService } from '@ticketing/contracts/ticketing/templates/v1/email_template_service_pb.ts';
import { RenderingService } from '@ticketing/contracts/ticketing/templates/v1/rendering_service_pb.ts';
import { TemplateService } from '@ticketing/contracts/ticketing/templates/v1/template_service_pb.ts';
import { implement } from '@ticketing/rest/routes/rest-api.ts';
import { composeService } from '@ticketing/service-kit/lifecycle/compose-service.ts';
import { readTemplatesConfig } from './config.ts';
import { eventHandler } from './consume.ts';
import { openContext } from './context.ts';
import { createEmailTemplate } from './email-template/create.ts';
import { deleteEmailTemplate, removeEmailTemplate } from './email-template/delete.ts';
import { findWrapper } from './email-template/find-wrapper.ts';
import { getEmailTemplate } from './email-template/get.ts';
import { listEmailTemplates } from './email-template/list.ts';
import { updateEmailTemplate } from './email-template/update.ts';
import { wrapMessage } from './email-template/wrap-message.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { setUpStore } from './set-up-store.ts';
import { readSettings } from './settings.ts';
import { createTemplate } from './template/create.ts';
import { deleteTemplate } from './template/delete.ts';
import { eraseTicket } from './template/drop-deleted.ts';
import { getTemplate } from './template/get.ts';
import { getTemplateAttachment } from './template/get-attachment.ts';
import { listTemplates } from './template/list.ts';
import { previewTemplate } from './template/preview.ts';
import { renderTemplate } from './template/render.ts';
import { updateTemplate } from './template/update.ts';

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

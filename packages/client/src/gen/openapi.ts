export interface paths {
    "/auth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sets the session cookie from a bearer token; the cookie expires with the token. */
        post: operations["createSession"];
        /** Clears the session cookie. */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates a ticket, or updates the one with the same `externalTicketId`
         * @description On an update, absent fields keep their values, the given tags replace the old ones, and attachments are added. Default values and automatic assignment apply to a creation only. With a template, its rendered text becomes the body, and its subject that of the ticket if the request has none. Its files are attached.
         *
         *     Errors: `unknown_tag`, `unknown_subchannel`, `subchannel_disabled`; `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`; `settings_unavailable` if the request names a subchannel before the settings were ever read, or no sender is known for a message that is to be sent; `conflicting_fields` for a body beside a template; `unknown_template`, `template_too_slow`, `template_too_much_memory`, `template_output_too_large`, `template_failed`, `templates_unavailable` if the template cannot be rendered; `ticket_not_found` for a repeated request whose ticket was deleted.
         */
        post: operations["createTicket"];
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Changes up to 500 tickets: all of them or none
         * @description Errors: `ticket_not_found` if nothing else is wrong, `unknown_ticket`, `duplicate_ticket`, `unknown_tag`, `conflicting_tags`, `stale_version`, `unknown_subchannel`, `subchannel_disabled`, `settings_unavailable`.
         */
        patch: operations["updateTickets"];
        trace?: never;
    };
    "/ticket/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Creates up to 500 tickets with the messages that they have had elsewhere
         * @description Each ticket is as that of a `POST /ticket`, each of its messages as that of a `POST /ticket/{ticketId}/conversation/store`: with the same rules, errors and events. Nothing is sent to anybody. Everything is checked first, then recorded, then stored, if necessary by another process. The request counts as one for each of its tickets against the rate limit.
         *
         *     Errors: `too_many_items`; with mode `all` also `duplicate_ticket` for an `externalTicketId` that comes twice, `element_too_large`, `unknown_tag`, `unknown_subchannel`, `subchannel_disabled`, `unknown_intent`, `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`; `settings_unavailable`. With mode `each` these are in the results.
         */
        post: operations["createTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finds tickets, in compact form
         * @description With `ticketScope` skills: the tickets that match the skills of the caller, without spam. `nextCursor` continues after a page more cheaply than a large `offset`, and keeps the total of the first page.
         *
         *     Errors: `invalid_filter`, `query_without_words`, `unknown_filter_key`, `invalid_filter_value`, `invalid_cursor`, `unknown_order`, `page_too_large`, `search_too_slow`, `too_much_at_once`. No match is not an error.
         */
        post: operations["searchTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/getLatest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Returns the ids of the neighbours of a ticket in the queue
         * @description Errors: `ticket_not_found`, `invalid_filter`, `query_without_words`, `unknown_filter_key`, `invalid_filter_value`, `search_too_slow`.
         */
        post: operations["getLatestTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a ticket in full form, with its neighbours in the queue
         * @description Errors: `ticket_not_found`, `search_too_slow`, `too_much_at_once`.
         */
        get: operations["getTicket"];
        put?: never;
        post?: never;
        /**
         * Deletes a ticket and everything that belongs to it
         * @description Cannot be undone.
         *
         *     Errors: `ticket_not_found`, `stale_version`.
         *
         *     Needs the right `deleteTicket`.
         */
        delete: operations["deleteTicket"];
        options?: never;
        head?: never;
        /**
         * Changes a ticket
         * @description An absent field keeps its value, null clears it.
         *
         *     Errors: `ticket_not_found`, `unknown_tag`, `stale_version`, `unknown_subchannel`, `subchannel_disabled`, `settings_unavailable`.
         */
        patch: operations["updateTicket"];
        trace?: never;
    };
    "/ticket/{ticketId}/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the data that templates for the ticket are rendered with
         * @description Errors: `ticket_not_found`, `too_much_at_once`.
         */
        get: operations["getTicketVariables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the history of the customer or contract of a ticket, newest first
         * @description Errors: `ticket_not_found`, `page_too_large`, `search_too_slow`, `too_much_at_once`.
         */
        get: operations["getTicketHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/conversation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the messages of a ticket, oldest first
         * @description Errors: `ticket_not_found`, `page_too_large`, `too_much_at_once`.
         */
        get: operations["listConversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/conversation/{conversationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a message
         * @description Errors: `ticket_not_found`, `conversation_not_found`, `too_much_at_once`.
         */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        /**
         * Deletes a draft or a private note
         * @description A note is deleted by whoever may change it.
         *
         *     Errors: `ticket_not_found`, `conversation_not_found`, `message_was_sent`, `not_the_author`.
         */
        delete: operations["deleteConversation"];
        options?: never;
        head?: never;
        /**
         * Changes a draft or a private note; a draft is published by `isDraft` false
         * @description A note is changed by its author, an admin, or a holder of the right `updateTechnicalTicketFields`.
         *
         *     Errors: `ticket_not_found`, `conversation_not_found`, `message_was_sent`, `not_the_author`, `unknown_subchannel`, `subchannel_disabled`, `settings_unavailable`, `unknown_intent`, `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`, `unknown_attachment`, `too_many_messages`, `no_sender`, `draft_only` for fields that only a draft has.
         */
        patch: operations["updateConversation"];
        trace?: never;
    };
    "/ticket/{ticketId}/conversation/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Writes a message to the customer, a draft of one, or a private note
         * @description A message that is neither a draft nor private is sent as an e-mail to those of its recipients that have an address, whatever the channel of its ticket. In a chat it is sent only to recipients that the request names. `notSentReason` says why a message is not sent. If none of `to`, `cc` and `bcc` is given, they are the `replyRecipients` of the ticket; if only `to` is missing, it is theirs.
         *
         *     Errors: `ticket_not_found`, `unknown_subchannel`, `subchannel_disabled`, `unknown_intent`, `settings_unavailable`, `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`, `too_many_messages`, `unknown_template`, `template_too_slow`, `template_too_much_memory`, `template_output_too_large`, `template_failed`, `templates_unavailable` if the template cannot be rendered; `no_sender` if no mailbox has an address, and `mailFrom` is not set.
         */
        post: operations["replyToTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/conversation/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Records a message that was received or sent elsewhere
         * @description It is not sent.
         *
         *     With an `externalConversationId` that is known, nothing is recorded: the message that it named is returned, also if it belongs to another ticket.
         *
         *     Errors: `ticket_not_found`, `unknown_subchannel`, `subchannel_disabled`, `unknown_intent`, `settings_unavailable`, `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`, `too_many_messages`; `unknown_template`, `template_too_slow`, `template_too_much_memory`, `template_output_too_large`, `template_failed`, `templates_unavailable` if the template cannot be rendered.
         */
        post: operations["storeConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/conversation/{conversationId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a message again that could not be sent, with the same `Message-ID`
         * @description Errors: `ticket_not_found`, `conversation_not_found`, `message_not_failed`.
         */
        post: operations["resendConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/attachment/{attachmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Downloads a file of a ticket or of one of its messages, whole or in ranges
         * @description Errors: `attachment_not_found`, also if the file belongs to another ticket; `range_not_satisfiable`.
         */
        get: operations["getAttachment"];
        put?: never;
        post?: never;
        /**
         * Deletes a file: its content, its record, and its entry in the ticket or in the message
         * @description Cannot be undone.
         *
         *     Errors: `attachment_not_found`.
         *
         *     Needs the right `updateTechnicalTicketFields`.
         */
        delete: operations["deleteAttachment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/erp/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Finds customers by `q`, or by at least one of the other fields
         * @description Errors: `required` if the request has neither; `page_too_large`; `erp_unavailable` if the ERP system does not respond.
         */
        get: operations["searchCustomers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ticket/{ticketId}/conversation/{conversationId}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Downloads a received e-mail as it was transferred, whole or in ranges
         * @description It is kept as long as the setting `rawMailDays` says.
         *
         *     Errors: `ticket_not_found`, `conversation_not_found`; `raw_mail_not_found` if it is not kept, or the message is no received e-mail; `range_not_satisfiable`.
         *
         *     Needs the right `readRawMail`.
         */
        get: operations["getRawMail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists tags by full name
         * @description Disabled tags are left out unless asked for.
         *
         *     Errors: `page_too_large`.
         */
        get: operations["listTags"];
        put?: never;
        /**
         * Creates a tag
         * @description Errors: `duplicate_tag` if the parent has a tag of this name, `unknown_tag` if the parent does not exist, `tag_too_deep` if the tag would have a hundred ancestors or more.
         *
         *     Needs the right `manageTags`.
         */
        post: operations["createTag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tag/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads one tag
         * @description Errors: `tag_not_found`.
         */
        get: operations["getTag"];
        put?: never;
        post?: never;
        /**
         * Deletes a tag, and removes it from all its tickets
         * @description Cannot be undone.
         *
         *     Errors: `tag_not_found`, `tag_has_children` if the tag has child tags.
         *
         *     Needs the right `manageTags`.
         */
        delete: operations["deleteTag"];
        options?: never;
        head?: never;
        /**
         * Changes a tag
         * @description All tickets with the tag show its new name at once.
         *
         *     Errors: `tag_not_found`, `duplicate_tag` if the parent has another tag of this name, `unknown_tag` if the parent does not exist, `tag_cycle` if the parent is the tag itself or one of its descendants, `tag_too_deep` if a tag would have a hundred ancestors or more.
         *
         *     Needs the right `manageTags`.
         */
        patch: operations["updateTag"];
        trace?: never;
    };
    "/aiAgent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists AI agents by id
         * @description Errors: `page_too_large`.
         *
         *     Needs the right `manageAiAgents`.
         */
        get: operations["listAiAgents"];
        put?: never;
        /**
         * Creates an AI agent
         * @description A slug that is derived from the name and taken gets a number.
         *
         *     Errors: `duplicate_ai_agent` if another one has the given slug; `conflicting_options` if two options are recommended; `invalid_schema` for the parameters; `invalid_executor` if the executor has members of another type; `address_refused`, `invalid_url`, `invalid_header`, `secret_required`, `unknown_tag`, `unknown_template`; for the fields of a ticket `conflicting_tags`, `unknown_subchannel`, `subchannel_disabled`, `settings_unavailable`; `ai_agent_not_found` for a repeated request whose AI agent was deleted meanwhile.
         *
         *     Needs the right `manageAiAgents`.
         */
        post: operations["createAiAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/aiAgent/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads an AI agent
         * @description Errors: `ai_agent_not_found`.
         *
         *     Needs the right `manageAiAgents`.
         */
        get: operations["getAiAgent"];
        put?: never;
        post?: never;
        /**
         * Deletes an AI agent
         * @description Cannot be undone.
         *
         *     Errors: `ai_agent_not_found`.
         *
         *     Needs the right `manageAiAgents`.
         */
        delete: operations["deleteAiAgent"];
        options?: never;
        head?: never;
        /**
         * Changes an AI agent
         * @description Its slug stays when its name changes.
         *
         *     Errors: `ai_agent_not_found`, `duplicate_ai_agent`, `conflicting_options`, `invalid_schema`, `invalid_executor`, `address_refused`, `invalid_url`, `invalid_header`, `secret_required`, `unknown_tag`, `unknown_template`, `conflicting_tags`, `unknown_subchannel`, `subchannel_disabled`, `settings_unavailable`.
         *
         *     Needs the right `manageAiAgents`.
         */
        patch: operations["updateAiAgent"];
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the sessions of a ticket, or all, those with the last activity first
         * @description Errors: `page_too_large`.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/intent/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Executes an option of an intent, at most once: of an intent that was executed the stored outcome is returned
         * @description The chosen option is `data._action`, by default the recommended one.
         *
         *     With the id 0 an intent is created first, of the AI agent with the slug `code` and for the ticket `ticketId`.
         *
         *     A definite failure of the backend system is an outcome with `success` false, after which the intent can be executed again. If it is not known whether the backend system has done it, the `responseCode` is `unknown`, and final.
         *
         *     Errors: `kind_not_allowed`, `missing_right` if the AI agent is not executable by the caller; `ai_agent_disabled`; `ticket_closed` if the AI agent does not allow closed tickets; `intent_not_found`, `ticket_not_found`; `unknown_ai_agent` for `code`; `intent_mismatch` if `intentId` differs from the path, or `code` or `ticketId` from the intent; `unknown_option`, `invalid_data` if `data` does not fit the AI agent; `contract_mismatch`, `intent_invalidated`, `intent_running` while another call executes it; `customer_needed` if the AI agent needs a customer and the ticket has none; `no_recipient` if a message to the customer would reach nobody, `no_sender` if no mail can be sent.
         */
        post: operations["executeIntent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/template": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists response templates by id
         * @description Errors: `page_too_large`, `search_too_slow`.
         */
        get: operations["listTemplates"];
        put?: never;
        /**
         * Creates a response template
         * @description When an example ticket is deleted, the stored response of an `Idempotency-Key` is erased.
         *
         *     Errors: `unknown_tag`, `unknown_template` for the e-mail template, `unknown_ticket`; `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`; `ticket_not_found` for a response that was erased; what is wrong with the text: `template_syntax`, `syntax_not_allowed`, `unknown_helper`, `wrong_argument_count`, `wrong_argument`, `name_not_allowed`, `template_too_large`, `template_too_deep`, `template_too_slow`, `template_too_much_memory`.
         *
         *     Needs the right `manageTemplates`.
         */
        post: operations["createTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/template/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a response template
         * @description Errors: `template_not_found`.
         */
        get: operations["getTemplate"];
        put?: never;
        post?: never;
        /**
         * Deletes a response template and its files
         * @description Cannot be undone.
         *
         *     Errors: `template_not_found`.
         *
         *     Needs the right `manageTemplates`.
         */
        delete: operations["deleteTemplate"];
        options?: never;
        head?: never;
        /**
         * Changes a response template
         * @description Errors: `template_not_found`, `unknown_tag`, `unknown_template` for the e-mail template, `unknown_ticket`; `unknown_attachment`, `invalid_attachment`, `attachment_too_large`, `attachments_too_large`, `too_many_attachments`, `storage_quota`; `ticket_not_found` for a response that was erased, as for `CreateTemplate`; what is wrong with the text: `template_syntax`, `syntax_not_allowed`, `unknown_helper`, `wrong_argument_count`, `wrong_argument`, `name_not_allowed`, `template_too_large`, `template_too_deep`, `template_too_slow`, `template_too_much_memory`.
         *
         *     Needs the right `manageTemplates`.
         */
        patch: operations["updateTemplate"];
        trace?: never;
    };
    "/template/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renders a text as a response template would be rendered
         * @description Nothing is stored.
         *
         *     The values are those of the ticket; without a ticket, all but the agent are null, and the contract if one is given.
         *
         *     Errors: `ticket_not_found`, `unknown_template` for the e-mail template; what is wrong with the text: `template_syntax`, `syntax_not_allowed`, `unknown_helper`, `wrong_argument_count`, `wrong_argument`, `name_not_allowed`, `template_too_large`, `template_too_deep`, `template_too_slow`, `template_too_much_memory`; `template_output_too_large` and `template_failed` if it cannot be rendered with these values.
         */
        post: operations["previewTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/template/{id}/attachment/{attachmentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Downloads a file of a response template, whole or in ranges
         * @description Errors: `attachment_not_found`, `range_not_satisfiable`.
         */
        get: operations["getTemplateAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emailTemplate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists e-mail templates by id
         * @description Errors: `page_too_large`.
         */
        get: operations["listEmailTemplates"];
        put?: never;
        /**
         * Creates an e-mail template
         * @description Errors: `duplicate_email_template` if there is one of this name; `message_placeholder` if the text does not contain `%MESSAGE%` exactly once, outside of tags and blocks, where HTML has text that is shown; what is wrong with the text: `template_syntax`, `syntax_not_allowed`, `unknown_helper`, `wrong_argument_count`, `wrong_argument`, `name_not_allowed`, `template_too_large`, `template_too_deep`, `template_too_slow`, `template_too_much_memory`.
         *
         *     Needs the right `manageTemplates`.
         */
        post: operations["createEmailTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emailTemplate/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads an e-mail template
         * @description Errors: `email_template_not_found`.
         */
        get: operations["getEmailTemplate"];
        put?: never;
        post?: never;
        /**
         * Deletes an e-mail template
         * @description Response templates, subchannels and settings that name it have none from then on. Cannot be undone.
         *
         *     Errors: `email_template_not_found`.
         *
         *     Needs the right `manageTemplates`.
         */
        delete: operations["deleteEmailTemplate"];
        options?: never;
        head?: never;
        /**
         * Changes an e-mail template
         * @description Response templates show it at once.
         *
         *     Errors: `email_template_not_found`, `duplicate_email_template`, `message_placeholder`; what is wrong with the text: `template_syntax`, `syntax_not_allowed`, `unknown_helper`, `wrong_argument_count`, `wrong_argument`, `name_not_allowed`, `template_too_large`, `template_too_deep`, `template_too_slow`, `template_too_much_memory`.
         *
         *     Needs the right `manageTemplates`.
         */
        patch: operations["updateEmailTemplate"];
        trace?: never;
    };
    "/knowledgeSource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists knowledge sources, those changed last first
         * @description With `q`, those come first that have all words in their title and name.
         *
         *     Errors: `page_too_large`; `too_many_words` with more than 16 words in `q`; `search_too_slow`.
         */
        get: operations["listKnowledgeSources"];
        put?: never;
        /**
         * Creates a knowledge source
         * @description Errors: `unknown_tag`, `unknown_parent`, `knowledge_too_deep` if it would have a hundred sources above it or more, `teams_required` if it is confidential without teams; `knowledge_source_not_found` for a repeated request whose source was deleted.
         *
         *     Needs the right `manageKnowledge`.
         */
        post: operations["createKnowledgeSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledgeSource/archived": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists archived knowledge sources by the time of their last change
         * @description Errors: `page_too_large`.
         */
        get: operations["listArchivedKnowledgeSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledgeSource/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a knowledge source
         * @description Errors: `knowledge_source_not_found`, also if it is deleted.
         */
        get: operations["getKnowledgeSource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Changes a knowledge source; archives it, puts it back, or deletes it by `status`
         * @description Deleting cannot be undone: only the id remains, so the response has no texts, and other fields of the request do not matter.
         *
         *     Errors: `knowledge_source_not_found`, `knowledge_cycle` if the parent is the source itself or below it, `knowledge_source_has_children` if it is to be deleted and others are below it, `unknown_tag`, `unknown_parent`, `knowledge_too_deep`, `teams_required`.
         *
         *     Needs the right `manageKnowledge`.
         */
        patch: operations["updateKnowledgeSource"];
        trace?: never;
    };
    "/knowledgeSource/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Marks a knowledge source as read by the calling agent
         * @description An agent who has read it before gets the new time.
         *
         *     Errors: `knowledge_source_not_found`; `knowledge_source_blocked` if the caller may not read it; `no_profile` if the caller has no profile.
         */
        post: operations["markKnowledgeSourceRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/skill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists skills by slug
         * @description Errors: `page_too_large`.
         */
        get: operations["listSkills"];
        put?: never;
        /**
         * Creates a skill
         * @description A slug that is derived from the name and taken gets a number.
         *
         *     Errors: `duplicate_skill` if the owner has a skill with the given slug; `unknown_agent`; `skill_not_found` for a repeated request whose skill was deleted.
         *
         *     Needs the right `manageSkills`.
         */
        post: operations["createSkill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/skill/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads a skill
         * @description Errors: `skill_not_found`.
         */
        get: operations["getSkill"];
        put?: never;
        post?: never;
        /**
         * Deletes a skill
         * @description Cannot be undone.
         *
         *     Errors: `skill_not_found`.
         *
         *     Needs the right `manageSkills`.
         */
        delete: operations["deleteSkill"];
        options?: never;
        head?: never;
        /**
         * Changes a skill
         * @description Its slug stays when its name changes.
         *
         *     Errors: `skill_not_found`; `duplicate_skill` if its owner has another skill with the slug; `unknown_agent`.
         *
         *     Needs the right `manageSkills`.
         */
        patch: operations["updateSkill"];
        trace?: never;
    };
    "/export/reporting_tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Exports rows as a file
         * @description With `Prefer: respond-async` the file is made in the background.
         *
         *     The response header `X-Total-Count` has the number of matching rows. A row shows a change of its ticket within a second in normal operation.
         *
         *     Errors: `invalid_filter`, `unknown_filter_key`, `invalid_filter_value`, `unknown_order`, `not_allowed` for `all` without `Prefer: respond-async` or with `limit` or `offset`, `too_many_exports`, `search_too_slow`, `too_much_at_once`.
         *
         *     Needs the right `exportReporting`.
         */
        get: operations["exportReportingTickets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export/reporting_tickets/{exportId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the progress of an export that is made in the background
         * @description Only the caller who requested the export can see it.
         *
         *     Errors: `export_not_found`.
         *
         *     Needs the right `exportReporting`.
         */
        get: operations["getReportingExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export/reporting_tickets/{exportId}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the file of an export, for 24 hours
         * @description Errors: `export_not_found`, `export_not_finished`, `export_withdrawn` if a ticket in it was deleted, or if it has personal data that exports may not contain any more.
         *
         *     Needs the right `exportReporting`.
         */
        get: operations["getReportingExportFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/category/{category}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the settings of a category in groups
         * @description Errors: `setting_category_not_found`.
         */
        get: operations["getSettingsOfCategory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists all settings, or those of a category
         * @description Errors: `setting_category_not_found`.
         */
        get: operations["listSettings"];
        put?: never;
        /**
         * Changes several settings: all of them, or none
         * @description Errors: `setting_not_found`; `duplicate_setting`; `unknown_tag`, `unknown_template`; if a value does not fit its setting, `wrong_type`, `not_allowed`, `out_of_range`, `invalid_value`; for a URL, `address_refused`, `invalid_url`, `not_https`, `user_info`.
         *
         *     Needs the right `updateClientSettings`.
         */
        post: operations["updateSettings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Changes a setting
         * @description Null as the value restores the default.
         *
         *     Errors: `setting_not_found`; `unknown_tag`, `unknown_template`; if the value does not fit the setting, `wrong_type`, `not_allowed`, `out_of_range`, `invalid_value`; for a URL, `address_refused`, `invalid_url`, `not_https`, `user_info`.
         *
         *     Needs the right `updateClientSettings`.
         */
        put: operations["updateSetting"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/subchannel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the subchannels by id */
        get: operations["listSubchannels"];
        put?: never;
        /**
         * Creates a subchannel
         * @description Errors: `duplicate_subchannel` if the channel has one of this name; `unknown_template`; `too_many_subchannels`; `too_many_secrets`, `secret_required` for secret values in `data`.
         *
         *     Needs the right `updateClientSettings`.
         */
        post: operations["createSubchannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings/subchannel/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Deletes a subchannel
         * @description Tickets that name it show none from then on.
         *
         *     Errors: `subchannel_not_found`; `subchannel_in_use` if a webhook endpoint names it.
         *
         *     Needs the right `updateClientSettings`.
         */
        delete: operations["deleteSubchannel"];
        options?: never;
        head?: never;
        /**
         * Changes a subchannel
         * @description Errors: `subchannel_not_found`; `duplicate_subchannel` if the channel has another one of this name; `unknown_template`; `too_many_secrets`, `secret_required` for secret values in `data`.
         *
         *     Needs the right `updateClientSettings`.
         */
        patch: operations["updateSubchannel"];
        trace?: never;
    };
    "/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the webhook endpoints by id
         * @description Needs the right `manageWebhooks`.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Creates a webhook endpoint
         * @description The secret is in this response only.
         *
         *     Errors: `address_refused` or `invalid_url` if the URL may not be called; `unknown_subchannel`; `too_many_webhooks`.
         *
         *     Needs the right `manageWebhooks`.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Reads one webhook endpoint
         * @description Errors: `webhook_not_found`.
         *
         *     Needs the right `manageWebhooks`.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Deletes a webhook endpoint with its deliveries
         * @description Cannot be undone.
         *
         *     Errors: `webhook_not_found`.
         *
         *     Needs the right `manageWebhooks`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Changes a webhook endpoint
         * @description The status `paused` makes its deliveries wait, and `active` continues them; an endpoint that was disabled is enabled by `active`.
         *
         *     Errors: `webhook_not_found`; `address_refused` or `invalid_url` if the URL may not be called; `unknown_subchannel`.
         *
         *     Needs the right `manageWebhooks`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhook/{id}/rotateSecret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Gives a webhook endpoint a new secret, which is in this response only
         * @description For 24 hours the old secret signs too.
         *
         *     Errors: `webhook_not_found`; `too_many_secrets` if 10 secrets sign already.
         *
         *     Needs the right `manageWebhooks`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a message of the type `webhook.test` to a webhook endpoint
         * @description Errors: `webhook_not_found`; `webhook_disabled`.
         *
         *     Needs the right `manageWebhooks`.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/{id}/delivery": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the deliveries to a webhook endpoint of the last 30 days, the newest first
         * @description A page whose deliveries have 16 MiB together ends before the limit.
         *
         *     Errors: `webhook_not_found`; `invalid_cursor`.
         *
         *     Needs the right `manageWebhooks`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/{id}/delivery/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sends a delivery again, with the id of its event: at once, and if that fails as often as a new one
         * @description A delivery that waits for its next attempt does not wait longer.
         *
         *     Errors: `webhook_not_found`; `delivery_not_found`; `webhook_disabled`; `ticket_not_found` if a request is repeated with its `Idempotency-Key` after the ticket was deleted.
         *
         *     Needs the right `manageWebhooks`.
         */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhook/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delivers each event that was received in an interval, that the filters of the endpoint take and that was not delivered to it
         * @description Errors: `webhook_not_found`; `webhook_disabled`; `interval_too_long` if the feed has more than 100,000 events in the interval: the error names the latest `until` that fits, and the next request continues from there.
         *
         *     Needs the right `manageWebhooks`.
         */
        post: operations["recoverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Returns the events after a cursor, for each ticket in order
         * @description A reader that continues with `next` sees every event at least once.
         *
         *     Errors: `invalid_cursor`; `cursor_expired` if events after the cursor were removed already.
         *
         *     Needs the right `manageWebhooks`.
         *
         *     With the media type `text/event-stream`: Returns the events after a cursor, and then each new one as soon as it happens, until the token expires. Over REST this is `GET /event` with `Accept: text/event-stream`: the id of each event is the cursor after it, and `Last-Event-ID` continues there. The first message has the cursor where the stream begins, and no event.
         *
         *     Errors: `invalid_cursor`; `cursor_expired`; `too_many_at_once` for too many streams of the caller or of all.
         *
         *     Needs the right `manageWebhooks`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A problem document (RFC 9457). */
        Problem: {
            /** @description `urn:ticketing:problem:` and the code. */
            type: string;
            /** @description The kind of the problem, for people. */
            title: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What is wrong, for people. Not in internal errors. */
            detail?: string;
            /** @description The path of the request. */
            instance: string;
            /** @constant */
            success: false;
            /** @description A stable code in snake_case, for programs. */
            code: string;
            /** @description Finds the request in logs and traces. */
            traceId: string;
            /** @description The invalid parts of the input and what is wrong with them. Only for invalid input. */
            errors?: components["schemas"]["Violation"][];
        };
        /** @description One thing that is wrong with the input. */
        Violation: {
            /** @description A JSON Pointer into the body, or `#/query/<name>`, `#/path/<name>`. */
            pointer: string;
            /** @description A stable code in snake_case, for example "unknown_field". */
            code: string;
            /** @description A sentence for people. */
            detail: string;
        };
        /** @description A profile that works on tickets. Its names and address are those of its latest verified token; all fields but `id` are null for an unknown profile. */
        Agent: {
            /**
             * Format: int32
             * @description The profile.
             */
            id: number;
            /** @description The first name. */
            firstName: string | null;
            /** @description The last name. */
            lastName: string | null;
            /** @description The e-mail address. */
            email: string | null;
        };
        /**
         * @description When AI analyses a new ticket.
         *
         *     - `realtime`: Before the response.
         *     - `batch`: Soon after the response; the default.
         *     - `false`: When a user opens the ticket for the first time.
         * @enum {string}
         */
        AiProcess: "realtime" | "batch" | "false";
        /**
         * @description How far AI has processed a ticket.
         *
         *     - `unprocessed`: Not processed yet; the default.
         *     - `human`: Processed; nothing can be automated.
         *     - `bot`: Processed; an intent has a recommended option.
         *     - `automated`: An intent was executed automatically.
         * @enum {string}
         */
        AiSupportLevel: "unprocessed" | "human" | "bot" | "automated";
        /** @description A conversation of people with the AI assistant about a ticket. */
        AssistantSession: {
            /** @description A UUID. */
            id: string;
            /**
             * Format: int32
             * @description The ticket.
             */
            ticketId: number | null;
            /**
             * Format: date-time
             * @description When the last message was sent.
             * @example 2026-01-31T09:10:00Z
             */
            lastActivityAt: string | null;
            /**
             * Format: date-time
             * @description When the first message was sent.
             * @example 2026-01-31T09:10:00Z
             */
            createdAt: string | null;
            /** @description The participants. */
            participants: components["schemas"]["SessionParticipant"][];
            /**
             * Format: int32
             * @description The number of messages.
             */
            messageCount: number;
            /**
             * Format: double
             * @description The cost in US dollars; null without the right reportAiPerformance.
             */
            costUsd: number | null;
            /** @description The model; null without the right reportAiPerformance. */
            model: string | null;
        };
        /** @description A file of a ticket or of one of its messages. */
        Attachment: {
            /** @description 8 characters of a-z and 0-9. */
            id: string;
            /** @description The file name that the sender gave. */
            name: string;
            /** @description The URL to download the file from, relative to the base URL. */
            url: string;
            /**
             * Format: int32
             * @description The size in bytes.
             */
            size: number;
            /** @description The media type, detected from the content. */
            contentType: string;
            /** @description The file name extension, without the dot. */
            fileEnding: string | null;
            /** @description Whether the file is shown inside the text. */
            inline: boolean;
            /** @description The id by which the text of an e-mail names it (`cid:`): its `Content-ID` without angle brackets, else its `Content-Location`. */
            contentId: string | null;
            /**
             * Format: int32
             * @description The width of a picture in pixels.
             */
            width: number | null;
            /**
             * Format: int32
             * @description The height of a picture in pixels.
             */
            height: number | null;
            /**
             * @description When it was stored.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
        };
        /** @description A file to attach: either fetched from `url` or given as `base64`. */
        AttachmentInput: {
            /** @description The file name. */
            name?: string | null;
            /**
             * Format: uri
             * @description The URL that the file is fetched from, before the response.
             */
            url?: string | null;
            /** @description The content in base64. */
            base64?: string | null;
        };
        /**
         * @description Whether a part of a bulk that is not valid refuses the others.
         *
         *     - `all`: Nothing is stored then.
         *     - `each`: The valid tickets are stored nevertheless.
         * @enum {string}
         */
        BulkMode: "all" | "each";
        /**
         * @description The way by which a request was received or a reply was sent.
         *
         *     - `email`: E-mail.
         *     - `portal`: The customer portal.
         *     - `phone`: Telephone.
         *     - `letter`: A letter on paper.
         *     - `system`: Another system; the ticket has no sender.
         *     - `chat`: A chat.
         *     - `walkIn`: A visit in person.
         * @enum {string}
         */
        Channel: "email" | "portal" | "phone" | "letter" | "system" | "chat" | "walkIn";
        /**
         * @description A confidence as a colour.
         *
         *     - `success`: Sure.
         *     - `warning`: Fairly sure.
         *     - `danger`: Unsure.
         * @enum {string}
         */
        ConfidenceColor: "success" | "warning" | "danger";
        /**
         * @description The format of a text.
         *
         *     - `text`: Plain text.
         *     - `html`: HTML.
         * @enum {string}
         */
        ContentType: "text" | "html";
        /** @description A contract as the ERP system knows it. */
        Contract: {
            /** @description The id in the ERP system. */
            id: string;
            /** @description The customer whose contract it is. */
            customerId: string | null;
            /** @description The status, as the ERP system names it. */
            status: string | null;
            /**
             * @description The first day.
             * @example 2026-01-31 09:10:00
             */
            startDate: string | null;
            /**
             * @description The last day.
             * @example 2026-01-31 09:10:00
             */
            endDate: string | null;
            /** @description The product. */
            productName: string | null;
            /** @description The postal code of the delivery address. */
            zip: string | null;
            /** @description The e-mail address of the contract. */
            email: string | null;
            /** @description Further data of the ERP system. */
            additionalData: {
                [key: string]: unknown;
            } | null;
            /** @description The contract as the ERP system sent it. */
            rawData: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A message of a ticket: received, sent, or internal. */
        Conversation: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /**
             * Format: int32
             * @description The ticket.
             */
            ticketId: number;
            /** @description The format of `body`. */
            type: components["schemas"]["ContentType"];
            /** @description Whether the message is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description Whether it is a note for colleagues. */
            private: boolean;
            /** @description Whether it is a draft: it was not published yet. */
            isDraft: boolean;
            /** @description The sender: an e-mail address or another identifier. */
            from: string | null;
            /** @description The name of the sender. */
            fromName: string | null;
            /** @description The recipients. */
            to: string[];
            /** @description The recipients of copies. */
            cc: string[];
            /** @description The recipients of blind copies. */
            bcc: string[];
            /** @description The subject. */
            subject: string | null;
            /** @description The text in its original form, HTML sanitised. */
            body: string | null;
            /** @description The text without HTML. */
            bodyPlain: string | null;
            /** @description The text without HTML, signatures and quoted replies, which AI reads. */
            bodyClean: string | null;
            /**
             * Format: int32
             * @description The person who wrote it; null for a message of the customer or of a program. A draft of a program has the person who published it.
             */
            agentId: number | null;
            /** @description The author. */
            sender: components["schemas"]["ConversationSender"] | null;
            /** @description The ids of the intents that the message is about. */
            intentIds: number[];
            /** @description The files. */
            attachments: components["schemas"]["Attachment"][];
            /**
             * Format: int32
             * @description The id of the mailbox from which it is sent, or where it was received.
             */
            subchannelId: number | null;
            /** @description The id of the message in another system; the `Message-ID` of an e-mail. */
            externalConversationId: string | null;
            /** @description Whether it was sent as an e-mail. */
            deliveryStatus: components["schemas"]["DeliveryStatus"];
            /** @description Why a message that was to be sent is not; null for every other message. */
            notSentReason: components["schemas"]["NotSentReason"] | null;
            /** @description The last failure of its delivery, also of an attempt that is made again; null if there was none, or a later attempt has reached all recipients. */
            deliveryError: components["schemas"]["DeliveryError"] | null;
            /**
             * @description When it was received, sent or begun.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When it was changed last.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
            /**
             * Format: int32
             * @description The profile that changed the draft or note last; null if nobody did, or a service.
             */
            modifiedBy: number | null;
            /**
             * Format: int32
             * @description The profile that published the draft; null for a message that was none.
             */
            publishedBy: number | null;
        };
        /** @description The author of a message. */
        ConversationSender: {
            /**
             * Format: int32
             * @description The profile; null for a customer.
             */
            id: number | null;
            /** @description The name. */
            name: string | null;
            /** @description The e-mail address. */
            email: string | null;
        };
        /** @description The tag to create. */
        CreateTagRequest: {
            /** @description The name, unique under its parent, without regard to case. */
            name: string;
            /**
             * Format: int32
             * @description The id of the parent.
             */
            parent?: number | null;
            /**
             * @description The kind of object to which the tag can be attached.
             * @default ticket
             */
            reference?: components["schemas"]["TagReference"] | null;
            /**
             * @description The kind of property that the tag describes.
             * @default skill
             */
            type?: components["schemas"]["TagType"] | null;
            /**
             * @description The audience of the tag.
             * @default public
             */
            visibility?: components["schemas"]["TagVisibility"] | null;
            /** @description A colour for display: `#rgb` or `#rrggbb`. */
            color?: string | null;
            /**
             * @description Whether a skill tag counts when tickets are matched to agents.
             * @default true
             */
            routingRelevant?: boolean | null;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should be resolved.
             */
            sla?: number | null;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should get a first response.
             */
            firstResponseSla?: number | null;
            /** @description The priority that a ticket with this tag has at least. */
            priority?: components["schemas"]["Priority"] | null;
            /** @description How the tag is detected in a text. */
            detection?: components["schemas"]["TagDetectionInput"] | null;
        };
        /** @description The tag that was created. */
        CreateTagResponse: {
            /** @description Always true. */
            success: boolean;
            /**
             * Format: int32
             * @description The id of the tag.
             */
            id: number;
        };
        /** @description The ticket to create. */
        CreateTicketRequest: {
            /** @description The requester. An e-mail address on the channels email and portal. */
            from?: string | null;
            /** @description The name of the requester, or of the sender of an outgoing mail. */
            fromName?: string | null;
            /**
             * Format: int32
             * @description The id of the mailbox from which the ticket is sent. It must be enabled.
             */
            subchannelId?: number | null;
            /**
             * Format: int32
             * @description The id of the assigned agent.
             */
            agentId?: number | null;
            /** @description The recipients. E-mail addresses on the channels email and portal. */
            to?: string[] | null;
            /** @description The recipients of copies. */
            cc?: string[] | null;
            /** @description The recipients of blind copies. Only for outgoing e-mail. */
            bcc?: string[] | null;
            /**
             * @description How urgent the ticket is.
             * @default low
             */
            priority?: components["schemas"]["Priority"] | null;
            /** @description The way by which the request was received. */
            channel: components["schemas"]["Channel"];
            /**
             * @description The status of the ticket.
             * @default open
             */
            status?: components["schemas"]["TicketStatus"] | null;
            /** @description The subject. */
            subject?: string | null;
            /** @description The text: HTML, preferably, or plain text. At most 5 MiB in UTF-8. */
            body?: string | null;
            /** @description When the ticket was created. Default: now. */
            createdAt?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for a first response. */
            firstResponseDueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for the resolution. */
            dueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description Files to attach, at most 20. Responds with 413 beyond the limits of files. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
            /** @description The ids of the tags. */
            tags?: number[] | null;
            /** @description The id of the contract. Detected if unset. */
            contractId?: string | null;
            /** @description The id in another ticketing system. If a ticket has it, that one is updated. */
            externalTicketId?: string | null;
            /** @description Source data, kept for later use. At most 1 MiB of JSON. At most 32 levels deep. */
            rawData?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int32
             * @description The id of the template from which the body is rendered. Not with a body.
             */
            templateId?: number | null;
            /** @description The data that the template reads as `in`. Only with a template. At most 1 MiB of JSON. At most 32 levels deep. */
            templateData?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the ticket is incoming, outgoing or internal.
             * @default in
             */
            direction?: components["schemas"]["Direction"] | null;
            /** @description The source data of an attached work item. At most 1 MiB of JSON. At most 32 levels deep. */
            workitem?: {
                [key: string]: unknown;
            } | null;
            /** @description The unique id of the chat conversation. Only for channel chat. */
            channelId?: string | null;
            /** @description The telephone number of the caller, for example `+49 30 123456` or `tel:+49-30-123456`. Only for channel phone. */
            callerNumber?: string | null;
            /**
             * @description Whether the first message of a new ticket is sent, as an e-mail, if its direction is out. False only records it. One with a `createdAt` in the past is never sent.
             * @default true
             */
            send?: boolean | null;
        };
        /** @description The tickets to create. */
        CreateTicketsRequest: {
            /**
             * @description Whether a ticket or a message that is not valid refuses the others.
             * @default all
             */
            mode?: components["schemas"]["BulkMode"] | null;
            /** @description The tickets, with at most 1,000 messages and 200 files together. */
            tickets: components["schemas"]["NewTicket"][];
        };
        /** @description The outcome of a bulk. */
        CreateTicketsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description A result for each ticket, in their order. */
            results: components["schemas"]["CreatedTicket"][];
        };
        /** @description The outcome of a ticket of a bulk. */
        CreatedTicket: {
            /** @description Whether the ticket and all its messages are stored. */
            success: boolean;
            /**
             * Format: int32
             * @description The id of the ticket; null if it was not stored.
             */
            id: number | null;
            /** @description Why the ticket or one of its messages was not stored. */
            error: components["schemas"]["CreationError"] | null;
        };
        /** @description Why a ticket of a bulk, or one of its messages, was not stored. */
        CreationError: {
            /** @description The code that the request alone would have got, for example `unknown_tag`. */
            code: string;
            /** @description A sentence for people. */
            detail: string;
            /** @description The violations, with pointers into the request. */
            errors: components["schemas"]["Violation"][];
        };
        /** @description A customer as the ERP system knows it. */
        Customer: {
            /** @description The id in the ERP system. */
            id: string;
            /** @description Whether the customer is a company. */
            business: boolean | null;
            /** @description The name of the company. */
            company: string | null;
            /** @description The first name. */
            firstname: string | null;
            /** @description The last name. */
            lastname: string | null;
            /** @description The e-mail address. */
            email: string | null;
            /** @description The telephone number. */
            phone: string | null;
            /** @description Street and number. */
            address: string | null;
            /** @description The postal code. */
            zip: string | null;
            /** @description The city. */
            city: string | null;
            /** @description The tags of the customer. */
            tags: components["schemas"]["Tag"][];
            /** @description The ids of these tags. */
            tagIds: number[];
            /** @description The contracts of the customer. */
            contracts: components["schemas"]["Contract"][];
            /** @description Whether the sender of the ticket has the e-mail address of the customer; null if the customer was not read with a ticket. */
            emailMatches: boolean | null;
            /** @description Further data of the ERP system. */
            additionalData: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The customer of a ticket in a list. */
        CustomerSummary: {
            /** @description The tags of the customer. */
            tags: components["schemas"]["Tag"][];
            /** @description The ids of these tags. */
            tagIds: number[];
        };
        /** @description A date, in UTC unless it has an offset; a day without a time means 00:00:00. */
        DateTimeInput: string | number;
        /** @description The attachment was deleted. */
        DeleteAttachmentResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The message was deleted. */
        DeleteConversationResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The tag was deleted. */
        DeleteTagResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The ticket was deleted. */
        DeleteTicketResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description Why a message did not arrive, in the words of a mail server or of this system. */
        DeliveryError: {
            /** @description The enhanced status code (RFC 3463), such as 5.1.1, else the reply code of SMTP, such as 550; null if there is none. */
            code: string | null;
            /** @description The reason. */
            text: string;
            /**
             * @description When it became known.
             * @example 2026-01-31 09:10:00
             */
            at: string | null;
            /** @description The recipient; null if it is about all of them. */
            recipient: string | null;
        };
        /**
         * @description Whether a message was sent as an e-mail.
         *
         *     - `none`: It is not sent by this system.
         *     - `queued`: It is going to be sent.
         *     - `sent`: The mail server has accepted it.
         *     - `failed`: It could not be sent, or has not arrived.
         * @enum {string}
         */
        DeliveryStatus: "none" | "queued" | "sent" | "failed";
        /**
         * @description Whether a message is incoming, outgoing or internal.
         *
         *     - `in`: From the customer; the default.
         *     - `out`: To the customer.
         *     - `internal`: Between colleagues.
         * @enum {string}
         */
        Direction: "in" | "out" | "internal";
        /** @description A file of a draft: a new one, as in `AttachmentInput`, or by its `id` one that the draft has. */
        DraftAttachmentInput: {
            /** @description The file name. */
            name?: string | null;
            /**
             * Format: uri
             * @description The URL that the file is fetched from, before the response.
             */
            url?: string | null;
            /** @description The content in base64. */
            base64?: string | null;
            /** @description The id of a file of the draft, which is kept. */
            id?: string | null;
        };
        /** @description A condition on the items of a list. An item is returned if it matches all filters. */
        Filter: {
            /** @description The name of the value that is compared, for example "t.status". The prefix "t." may be left out. "q" searches the full text. */
            key: string;
            /**
             * @description How it is compared. "equal" is an alias of "=". "in" and "not in" take `values`, "between" takes `from` and `to` (both inclusive), all others `value`. "like" compares text without regard to case; `%` stands for any characters.
             * @enum {string}
             */
            comparator: "=" | "equal" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" | "between" | "like";
            /** @description The value of a comparator that takes one. */
            value?: unknown;
            /** @description The values of "in" and "not in". A null among them means unset. */
            values?: unknown[] | null;
            /** @description The lower end of "between". */
            from?: unknown;
            /** @description The upper end of "between". */
            to?: unknown;
        };
        /** @description Which tickets of the queue to return. */
        GetLatestTicketsRequest: {
            /**
             * @description Which of the ids the caller needs.
             * @default earliest
             */
            preferredDirection?: components["schemas"]["PreferredDirection"] | null;
            /**
             * Format: int32
             * @description The current ticket; required for previous and next.
             */
            ticketId?: number | null;
            /** @description The filters. A ticket is in the queue if it matches all of them. */
            filters?: components["schemas"]["Filter"][] | null;
            /**
             * @description Which tickets are in the queue.
             * @default all
             */
            ticketScope?: components["schemas"]["TicketScope"] | null;
        };
        /** @description The ids of the neighbours of a ticket in the queue. */
        GetLatestTicketsResponse: {
            /**
             * Format: int32
             * @description The first ticket in the queue.
             */
            earliest: number | null;
            /**
             * Format: int32
             * @description The ticket before the current one.
             */
            previous: number | null;
            /**
             * Format: int32
             * @description The ticket after the current one.
             */
            next: number | null;
        };
        /** @description A page of history. */
        GetTicketHistoryResponse: {
            /** @description Always true. */
            success: boolean;
            /**
             * Format: int32
             * @description How many entries there are.
             */
            total: number;
            /**
             * Format: int32
             * @description How many of all entries are open tickets.
             */
            totalOpenedTickets: number;
            /** @description The entries, newest first. */
            history: components["schemas"]["HistoryEntry"][];
        };
        /** @description A ticket, its neighbours in the queue, and its assistant sessions. */
        GetTicketResponse: components["schemas"]["Ticket"] & {
            /**
             * Format: int32
             * @description The id of the ticket before it in the queue.
             */
            prevTicketId: number | null;
            /**
             * Format: int32
             * @description The id of the ticket after it in the queue.
             */
            nextTicketId: number | null;
            /** @description The assistant sessions of the ticket. */
            sessions?: components["schemas"]["AssistantSession"][];
        };
        /** @description An entry in the history of a customer or contract. */
        HistoryEntry: {
            /**
             * Format: int32
             * @description The id of the ticket, or of the entry in its source.
             */
            id: number | null;
            /** @description The kind of entry. */
            type: components["schemas"]["HistoryEntryType"];
            /** @description The channel; null unless the type is ticket. */
            channel: components["schemas"]["Channel"] | null;
            /** @description A more precise channel, for the icon. */
            subChannel: components["schemas"]["HistorySubChannel"] | null;
            /** @description The status; null unless the type is ticket. */
            status: components["schemas"]["TicketStatus"] | null;
            /** @description The subject, or the key of a localised text. */
            subject: string | null;
            /** @description The summary; null unless the type is ticket. */
            summary: string | null;
            /** @description The URL at which the entry can be seen; null for tickets. */
            url: string | null;
            /**
             * @description When it happened.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
        };
        /**
         * @description The kind of a history entry.
         *
         *     - `ticket`: A ticket.
         *     - `gridMessage`: A message exchanged with a grid operator.
         *     - `delivery`: A delivery.
         *     - `payment`: A payment.
         * @enum {string}
         */
        HistoryEntryType: "ticket" | "gridMessage" | "delivery" | "payment";
        /**
         * @description A more precise channel of a history entry.
         *
         *     - `facebook`: Facebook.
         *     - `instagram`: Instagram.
         *     - `whatsapp`: WhatsApp.
         *     - `telegram`: Telegram.
         *     - `companyWebsite`: The company's website.
         *     - `gridOperator`: The grid operator.
         *     - `previousSupplier`: The previous supplier.
         *     - `nextSupplier`: The next supplier.
         * @enum {string}
         */
        HistorySubChannel: "facebook" | "instagram" | "whatsapp" | "telegram" | "companyWebsite" | "gridOperator" | "previousSupplier" | "nextSupplier";
        /** @description The text of a message from elsewhere. */
        IncomingContent: {
            /** @description The text. At most 1,048,576 bytes if its direction is not in. At most 5 MiB in UTF-8. */
            message: string;
            /** @description The format of the text. */
            type: components["schemas"]["ContentType"];
        };
        /** @description Information for the agent about an intent. */
        IntentInfo: {
            /** @description The kind of the information. */
            type: string;
            /** @description The text. */
            message: string;
            /** @description More text. */
            extraInfo: string | null;
        };
        /** @description An option of an intent that an agent can choose. */
        IntentOption: {
            /** @description The value of `data._action` in an execution of this option. */
            type: string;
            /** @description The label of the button. */
            name: string;
            /** @description The icon of the button. */
            icon: string | null;
            /** @description Whether this option is recommended. */
            recommended: boolean;
            /**
             * Format: int32
             * @description The position among the options.
             */
            order: number;
        };
        /** @description The result of an execution. */
        IntentOutcome: {
            /** @description A machine-readable outcome. */
            responseCode: string;
            /**
             * Format: int32
             * @description The AI agent that was executed.
             */
            aiAgentId: number;
            /** @description Whether it succeeded. */
            success: boolean;
            /** @description A message for people, usually from the backend system. */
            messageLocalized: string | null;
            /** @description Technical output. */
            internalData: {
                [key: string]: unknown;
            } | null;
            /**
             * @description When it was executed.
             * @example 2026-01-31 09:10:00
             */
            executedAt: string | null;
            /**
             * Format: int32
             * @description The profile that triggered it; 0 for the system.
             */
            userId: number;
            /** @description Whether the message below leaves as an e-mail, or is read in the chat. */
            sent: boolean;
            /** @description Whether the ticket was closed. */
            ticketClosed: boolean;
            /** @description The addresses that got the message. */
            recipient: string | null;
            /** @description The message. */
            message: string | null;
            /** @description The template of the message. */
            template: string | null;
            /** @description The sources that the result was made from. */
            sources: {
                [key: string]: unknown;
            }[];
            /** @description A unique id, which is also in the log. */
            txId: string;
            /** @description The format of the message; null without one. */
            messageType: components["schemas"]["ContentType"] | null;
            /**
             * Format: int32
             * @description The id of the message that was written; null without one.
             */
            conversationId: number | null;
            /** @description Whether the message was sent as an e-mail, as it is when the response is made; null without a message. */
            deliveryStatus: components["schemas"]["DeliveryStatus"] | null;
            /** @description Why the message is not sent as an e-mail; null if it is, or without one. */
            notSentReason: components["schemas"]["NotSentReason"] | null;
        };
        /** @description A page of messages. */
        ListConversationsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The messages, oldest first. */
            conversations: components["schemas"]["Conversation"][];
            /**
             * Format: int32
             * @description How many messages the ticket has.
             */
            total: number;
            /**
             * Format: int32
             * @description How many messages were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The limit of the request, or its default.
             */
            limit: number;
        };
        /** @description A page of tags. */
        ListTagsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The tags, ordered by full name. */
            tags: components["schemas"]["Tag"][];
            /**
             * Format: int32
             * @description How many tags match.
             */
            total: number;
        };
        /** @description The text of a message. */
        MessageContent: {
            /** @description The text. At most 1 MiB in UTF-8. */
            message: string;
            /** @description The format of the text. */
            type: components["schemas"]["ContentType"];
        };
        /** @description A message of a new ticket, which was received or sent elsewhere. One whose `externalConversationId` is known is left out. */
        NewMessage: {
            /** @description The text. Required without a template, whose text takes its place. */
            content: components["schemas"]["IncomingContent"];
            /** @description The recipients. E-mail addresses on the channels email and portal. */
            to?: string[] | null;
            /** @description The recipients of copies. */
            cc?: string[] | null;
            /** @description The recipients of blind copies. Only of outgoing messages on channel email. */
            bcc?: string[] | null;
            /** @description The subject. Default: "Re: " and the subject of the ticket. */
            subject?: string | null;
            /**
             * @description Whether it is a note for colleagues. Only with direction internal.
             * @default false
             */
            private?: boolean | null;
            /** @description The ids of the intents that the message is about. */
            intentIds?: number[] | null;
            /** @description Files to attach, at most 20, as `base64`. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
            /**
             * Format: int32
             * @description The id of the mailbox where it was received, or from which it was sent.
             */
            subchannelId?: number | null;
            /** @description Whether the message is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description The sender. An e-mail address on the channels email and portal. */
            from?: string | null;
            /** @description The name of the sender. */
            fromName?: string | null;
            /** @description The id of the message in another system, unique in the installation. */
            externalConversationId?: string | null;
            /** @description When it was received or sent. Default: now. */
            createdAt?: components["schemas"]["DateTimeInput"] | null;
        };
        /** @description A ticket of a bulk, with at most 12 MiB apart from files. */
        NewTicket: {
            /** @description The requester. An e-mail address on the channels email and portal. */
            from?: string | null;
            /** @description The name of the requester, or of the sender of an outgoing mail. */
            fromName?: string | null;
            /**
             * Format: int32
             * @description The id of the mailbox from which the ticket is sent. It must be enabled.
             */
            subchannelId?: number | null;
            /**
             * Format: int32
             * @description The id of the assigned agent.
             */
            agentId?: number | null;
            /** @description The recipients. E-mail addresses on the channels email and portal. */
            to?: string[] | null;
            /** @description The recipients of copies. */
            cc?: string[] | null;
            /** @description The recipients of blind copies. Only for outgoing e-mail. */
            bcc?: string[] | null;
            /**
             * @description How urgent the ticket is.
             * @default low
             */
            priority?: components["schemas"]["Priority"] | null;
            /** @description The way by which the request was received. */
            channel: components["schemas"]["Channel"];
            /**
             * @description The status of the ticket.
             * @default open
             */
            status?: components["schemas"]["TicketStatus"] | null;
            /** @description The subject. */
            subject?: string | null;
            /** @description The text: HTML, preferably, or plain text. At most 5 MiB in UTF-8. */
            body?: string | null;
            /** @description When the ticket was created. Default: now. */
            createdAt?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for a first response. */
            firstResponseDueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for the resolution. */
            dueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description Files to attach, at most 20, as `base64`. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
            /** @description The ids of the tags. */
            tags?: number[] | null;
            /** @description The id of the contract. Detected if unset. */
            contractId?: string | null;
            /** @description The id in another ticketing system. If a ticket has it, that one is updated. */
            externalTicketId?: string | null;
            /** @description Source data, kept for later use. At most 1 MiB of JSON. At most 32 levels deep. */
            rawData?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the ticket is incoming, outgoing or internal.
             * @default in
             */
            direction?: components["schemas"]["Direction"] | null;
            /** @description The source data of an attached work item. At most 1 MiB of JSON. At most 32 levels deep. */
            workitem?: {
                [key: string]: unknown;
            } | null;
            /** @description The unique id of the chat conversation. Only for channel chat. */
            channelId?: string | null;
            /** @description The telephone number of the caller, for example `+49 30 123456` or `tel:+49-30-123456`. Only for channel phone. */
            callerNumber?: string | null;
            /** @description The messages that it has had, in their order. */
            messages?: components["schemas"]["NewMessage"][] | null;
        };
        /**
         * @description Why a message that was to be sent is not.
         *
         *     - `no_recipient`: It has no recipient with an e-mail address.
         *     - `channel_without_mail`: It answers a chat, where the customer reads it.
         *     - `no_sender`: No mailbox has an address, and the setting `mailFrom` is not set.
         * @enum {string}
         */
        NotSentReason: "no_recipient" | "channel_without_mail" | "no_sender";
        /**
         * @description The direction of an order.
         *
         *     - `asc`: Smallest first.
         *     - `desc`: Largest first.
         * @enum {string}
         */
        OrderByDirection: "asc" | "desc";
        /**
         * @description Which ticket of the queue is wanted.
         *
         *     - `earliest`: The first one in the queue; the default.
         *     - `previous`: The one before the current ticket.
         *     - `next`: The one after the current ticket.
         * @enum {string}
         */
        PreferredDirection: "earliest" | "previous" | "next";
        /**
         * @description How urgent a ticket is. Sorts low < medium < high < urgent.
         *
         *     - `low`: Low; the default.
         *     - `medium`: Medium.
         *     - `high`: High.
         *     - `urgent`: Urgent.
         * @enum {string}
         */
        Priority: "low" | "medium" | "high" | "urgent";
        /**
         * @description The parts that AI analyses again.
         *
         *     - `full`: Everything.
         *     - `summaryAndText`: The summary and the text.
         *     - `customer`: The customer.
         *     - `tags`: The tags.
         *     - `agents`: The AI agents.
         * @enum {string}
         */
        RefreshMode: "full" | "summaryAndText" | "customer" | "tags" | "agents";
        /** @description The recipients of a reply. */
        ReplyRecipients: {
            /** @description The recipients. */
            to: string[];
            /** @description The recipients of copies. */
            cc: string[];
            /** @description The recipients of blind copies. */
            bcc: string[];
        };
        /** @description The message to write. */
        ReplyToTicketRequest: {
            /** @description The text. Required without a template, whose text takes its place. */
            content?: components["schemas"]["MessageContent"] | null;
            /** @description The recipients. E-mail addresses on the channels email and portal. */
            to?: string[] | null;
            /** @description The recipients of copies. */
            cc?: string[] | null;
            /** @description The recipients of blind copies. */
            bcc?: string[] | null;
            /** @description The subject. Default: "Re: " and the subject of the ticket. */
            subject?: string | null;
            /**
             * @description Whether it is only a draft.
             * @default false
             */
            isDraft?: boolean | null;
            /**
             * @description Whether it is a note for colleagues.
             * @default false
             */
            private?: boolean | null;
            /** @description The ids of the intents that the message is about. */
            intentIds?: number[] | null;
            /** @description Files to attach. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
            /**
             * Format: int32
             * @description The id of the mailbox to send from. Default: that of the ticket, else the default one.
             */
            subchannelId?: number | null;
            /**
             * Format: int32
             * @description The id of the template from which the text is rendered.
             */
            templateId?: number | null;
            /** @description The data that the template reads as `in`. Only with a template. At most 1 MiB of JSON. At most 32 levels deep. */
            templateData?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Whether the e-mail template of the ticket is rendered around `content`, if the message is an outgoing mail. The text of a template has one anyway.
             * @default false
             */
            withEmailTemplate?: boolean | null;
            /**
             * @description Whether it is sent, as an e-mail. False only records it: a letter that was posted, a call that was made. Not for a draft, which may have it when it is published.
             * @default true
             */
            send?: boolean | null;
        };
        /** @description The message that was written. */
        ReplyToTicketResponse: {
            /** @description Always true. */
            success: boolean;
            /**
             * Format: int32
             * @description The id of the message.
             */
            id: number;
            /** @description The message. */
            conversation: components["schemas"]["Conversation"] | null;
        };
        /** @description The message is queued. */
        ResendConversationResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The message. */
            conversation: components["schemas"]["Conversation"] | null;
        };
        /** @description A page of customers. */
        SearchCustomersResponse: {
            /** @description The customers. */
            customers: components["schemas"]["Customer"][];
            /**
             * Format: int32
             * @description How many customers were found.
             */
            total: number;
            /**
             * Format: int32
             * @description How many of them were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The limit of the request, or its default.
             */
            limit: number;
        };
        /** @description Which tickets to find. */
        SearchTicketsRequest: {
            /**
             * Format: int32
             * @description The maximum number of tickets.
             * @default 100
             */
            limit?: number | null;
            /**
             * Format: int32
             * @description How many matching tickets to skip.
             * @default 0
             */
            offset?: number | null;
            /**
             * @description The field to order by, for example `t.createdAt`. Equal values are ordered by `t.id`.
             * @default t.id
             */
            orderByField?: string | null;
            /**
             * @description The direction of the order. Unset values are last in both directions.
             * @default desc
             */
            orderByDirection?: components["schemas"]["OrderByDirection"] | null;
            /**
             * @description Which tickets to search.
             * @default all
             */
            ticketScope?: components["schemas"]["TicketScope"] | null;
            /** @description The filters. A ticket is returned if it matches all of them. */
            filters?: components["schemas"]["Filter"][] | null;
            /** @description The `nextCursor` of an earlier page, to read the page after it. Filters, order and scope must be the same. */
            cursor?: string | null;
        };
        /** @description A page of tickets. */
        SearchTicketsResponse: {
            /** @description The tickets in compact form. */
            tickets: components["schemas"]["TicketSummary"][];
            /**
             * Format: int32
             * @description How many tickets match. With a cursor: how many did when the first page was read.
             */
            total: number;
            /**
             * Format: int32
             * @description How many matching tickets were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The limit of the request, or its default.
             */
            limit: number;
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A profile that took part in an assistant session. */
        SessionParticipant: {
            /**
             * Format: int32
             * @description The profile.
             */
            id: number;
            /** @description Its name. */
            name: string | null;
        };
        /**
         * @description Whether a ticket is spam, and who decided it. Automation never replaces a manual value.
         *
         *     - `auto_spam`: Detected as spam.
         *     - `auto_clean`: Detected as clean.
         *     - `auto_programmatic`: Detected by a header rule as sent by a program.
         *     - `manual_spam`: Marked as spam through the API.
         *     - `manual_clean`: Marked as clean through the API.
         * @enum {string}
         */
        SpamStatus: "auto_spam" | "auto_clean" | "auto_programmatic" | "manual_spam" | "manual_clean";
        /** @description The message to record. */
        StoreConversationRequest: {
            /** @description The text. Required without a template, whose text takes its place. */
            content?: components["schemas"]["IncomingContent"] | null;
            /** @description The recipients. E-mail addresses on the channels email and portal. */
            to?: string[] | null;
            /** @description The recipients of copies. */
            cc?: string[] | null;
            /** @description The recipients of blind copies. Only of outgoing messages on channel email. */
            bcc?: string[] | null;
            /** @description The subject. Default: "Re: " and the subject of the ticket. */
            subject?: string | null;
            /**
             * @description Whether it is a note for colleagues. Only with direction internal.
             * @default false
             */
            private?: boolean | null;
            /** @description The ids of the intents that the message is about. */
            intentIds?: number[] | null;
            /** @description Files to attach. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
            /**
             * Format: int32
             * @description The id of the mailbox where it was received, or from which it was sent.
             */
            subchannelId?: number | null;
            /**
             * Format: int32
             * @description The id of the template from which the text is rendered.
             */
            templateId?: number | null;
            /** @description The data that the template reads as `in`. Only with a template. At most 1 MiB of JSON. At most 32 levels deep. */
            templateData?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the message is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description The sender. An e-mail address on the channels email and portal. */
            from?: string | null;
            /** @description The name of the sender. */
            fromName?: string | null;
            /** @description The id of the message in another system, unique in the installation. */
            externalConversationId?: string | null;
            /** @description When it was received or sent. Default: now. */
            createdAt?: components["schemas"]["DateTimeInput"] | null;
        };
        /** @description The message that was recorded. */
        StoreConversationResponse: {
            /** @description Always true. */
            success: boolean;
            /**
             * Format: int32
             * @description The id of the message.
             */
            conversationId: number;
            /**
             * Format: int32
             * @description The ticket of the message.
             */
            ticketId: number;
            /** @description The message. */
            conversation: components["schemas"]["Conversation"] | null;
        };
        /** @description A label of tickets, contracts or customers. Tags form a tree. */
        Tag: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The name, unique under its parent. */
            name: string;
            /** @description The names from the top-level ancestor down to the tag, joined by " / ". */
            fullName: string;
            /**
             * Format: int32
             * @description The id of the parent; null for a top-level tag.
             */
            parent: number | null;
            /** @description The kind of object to which the tag can be attached. */
            reference: components["schemas"]["TagReference"];
            /** @description The kind of property that the tag describes. */
            type: components["schemas"]["TagType"];
            /** @description The audience of the tag. */
            visibility: components["schemas"]["TagVisibility"];
            /** @description A colour for display, for example "#3b82f6". */
            color: string | null;
            /** @description Whether a skill tag counts when tickets are matched to agents. */
            routingRelevant: boolean;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should be resolved.
             */
            sla: number | null;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should get a first response.
             */
            firstResponseSla: number | null;
            /** @description The priority that a ticket with this tag has at least. */
            priority: components["schemas"]["Priority"] | null;
            /** @description How the tag is detected in a text. */
            detection: components["schemas"]["TagDetection"] | null;
            /**
             * @description When the tag was changed last.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
        };
        /** @description How a tag is detected in a text. */
        TagDetection: {
            /** @description Words whose occurrence in a text suggests the tag. */
            keywords: string[];
        };
        /** @description How a tag is detected in a text. */
        TagDetectionInput: {
            /** @description Words whose occurrence in a text suggests the tag. */
            keywords?: string[] | null;
        };
        /**
         * @description The kind of object to which a tag can be attached.
         *
         *     - `ticket`: Tickets; the default.
         *     - `contract`: Contracts.
         *     - `customer`: Customers.
         * @enum {string}
         */
        TagReference: "ticket" | "contract" | "customer";
        /**
         * @description The kind of property that a tag describes.
         *
         *     - `skill`: A skill that an agent needs; the default.
         *     - `product`: A product.
         *     - `brand`: A brand.
         *     - `customerProperty`: A property of the customer.
         *     - `contractProperty`: A property of the contract.
         *     - `other`: Something else.
         * @enum {string}
         */
        TagType: "skill" | "product" | "brand" | "customerProperty" | "contractProperty" | "other";
        /**
         * @description The audience of a tag.
         *
         *     - `public`: Everybody; the default.
         *     - `private`: Agents only.
         *     - `disabled`: Nobody: tickets keep the tag, but it is not offered for new ones.
         * @enum {string}
         */
        TagVisibility: "public" | "private" | "disabled";
        /** @description A request of a customer and the work on it: an e-mail, a call, a letter, a chat. This is the full form; `TicketSummary` has the same fields under the same numbers, without those that are returned for a single ticket only. */
        Ticket: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description Whether the ticket is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description The sender: an e-mail address or another identifier; null for channel system. */
            from: string | null;
            /** @description The name of the requester, or of the sending mailbox. */
            fromName: string | null;
            /** @description The recipients: e-mail addresses, telephone numbers or a chat group, by channel. */
            to: string[];
            /** @description The recipients of copies. */
            cc: string[];
            /** @description The recipients of blind copies; outgoing e-mail only. */
            bcc: string[];
            /**
             * @deprecated
             * @description Use `replyRecipients.cc`.
             */
            ccEmails: string[];
            /**
             * @deprecated
             * @description Use `replyRecipients.bcc`.
             */
            bccEmails: string[];
            /** @description The recipients of a reply; null for system tickets. */
            replyRecipients: components["schemas"]["ReplyRecipients"] | null;
            /**
             * Format: int32
             * @description The id of the mailbox.
             */
            subchannelId: number | null;
            /** @description The unique id of the ticket in another ticketing system. */
            externalTicketId: string | null;
            /** @description The interface through which the ticket was created. */
            interface: string;
            /** @description The mood of the customer, detected by AI. */
            sentiment: string | null;
            /** @description The name of the detected language. */
            language: string | null;
            /** @description The ISO 639-1 code of the detected language. */
            languageCode: string | null;
            /** @description How far AI has processed the ticket. */
            aiSupportLevel: components["schemas"]["AiSupportLevel"];
            /** @description Whether the ticket is spam, and who decided it; null if not decided. */
            spamStatus: components["schemas"]["SpamStatus"] | null;
            /** @description Whether the customer is online now: a chat with a message of the customer in the last 5 minutes. */
            isCustomerActive: boolean;
            /** @description How urgent the ticket is. */
            priority: components["schemas"]["Priority"];
            /** @description The way by which the request was received. */
            channel: components["schemas"]["Channel"];
            /** @description The status of the ticket. */
            status: components["schemas"]["TicketStatus"];
            /** @description A summary of the request. */
            summary: string | null;
            /** @description The subject. */
            subject: string | null;
            /** @description The text in its original form, HTML sanitised. */
            body: string | null;
            /** @description The text without HTML. */
            bodyPlain: string | null;
            /** @description The text without HTML, signatures and quoted replies, which AI reads. */
            bodyClean: string | null;
            /**
             * @description When the ticket was created.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When the ticket was changed last.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
            /**
             * @description The latest time for a first response.
             * @example 2026-01-31 09:10:00
             */
            firstResponseDueBy: string | null;
            /**
             * @description The latest time for the resolution.
             * @example 2026-01-31 09:10:00
             */
            dueBy: string | null;
            /**
             * @description When the last message was received or sent.
             * @example 2026-01-31 09:10:00
             */
            lastMessageAt: string | null;
            /**
             * @description When the last message of the customer was received.
             * @example 2026-01-31 09:10:00
             */
            lastCustomerMessageAt: string | null;
            /** @description The customer. */
            customer: components["schemas"]["Customer"] | null;
            /** @description The id of the primary customer; null if not detected or not set. */
            customerId: string | null;
            /** @description The id of the primary contract; null if not detected or not set. */
            contractId: string | null;
            /**
             * Format: int32
             * @description The id of the associated partner.
             */
            partnerId: number | null;
            /**
             * Format: int32
             * @description How certain the identity of the customer is, from 0 to 100.
             */
            customerLegitimation: number;
            /**
             * Format: int32
             * @description The id of the assigned agent.
             */
            agentId: number | null;
            /** @description The files, without inline pictures. */
            attachments: components["schemas"]["Attachment"][];
            /** @description The reply template of the subchannel, with placeholders; null if it has none. */
            template: string | null;
            /** @description The tags. */
            tags: components["schemas"]["Tag"][];
            /** @description The ids of the tags. */
            tagIds: number[];
            /** @description The actions that AI agents propose. */
            intents: components["schemas"]["TicketIntent"][];
            /** @description The source data of the originating system; only with `includeRawData=true`. */
            rawData?: {
                [key: string]: unknown;
            } | null;
            /** @description The source data of an attached work item. */
            workitem: {
                [key: string]: unknown;
            } | null;
            /**
             * @description When a proposed action will be executed automatically.
             * @example 2026-01-31 09:10:00
             */
            autoExecuteAt: string | null;
            /** @description The unique id of the chat conversation; channel chat only. */
            channelId: string | null;
            /**
             * @description When the ticket was closed; null while it is not closed.
             * @example 2026-01-31 09:10:00
             */
            closedAt: string | null;
            /** @description Why the legitimation is not higher; only if it is from 10 to 19. */
            customerLegitimationMessage?: string;
            /** @description The author of the latest response. */
            lastResponseAuthor: components["schemas"]["Agent"] | null;
            /** @description The assigned agent. */
            agent: components["schemas"]["Agent"] | null;
            /** @description The ids of the assigned agents: `[agentId]` or `[]`. */
            agentIds: number[];
            /** @description The assigned agents. */
            agents: components["schemas"]["Agent"][];
            /** @description The ids of the agents who worked on the ticket in the last hour. */
            workedOnByIds: number[];
            /** @description The agents who worked on the ticket in the last hour. */
            workedOnBy: components["schemas"]["Agent"][];
            /** @description Data that clients store with the ticket. */
            clientData: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the caller has the skills for the ticket. */
            hasRequiredSkills: boolean;
            /**
             * Format: int32
             * @description The number of changes of the ticket; increases by one with each.
             */
            version: number;
            /**
             * Format: int32
             * @description The profile that created the ticket.
             */
            createdBy: number | null;
            /** @description The telephone number of the caller, as it was given; channel phone only. */
            callerNumber: string | null;
        };
        /** @description The changes of one ticket in a bulk. */
        TicketChange: {
            /**
             * Format: int32
             * @description The id of the ticket.
             */
            id: number;
            /**
             * Format: int32
             * @description The expected version of the ticket. If any ticket of the bulk has another version, nothing is changed.
             */
            version?: number;
            /** @description The id of the contract. */
            contractId?: string | null;
            /** @description The status. It is written, with an event, even if it is the same. */
            status?: components["schemas"]["TicketStatus"];
            /**
             * Format: int32
             * @description The id of a profile to add to those who work on the ticket; null removes the caller.
             */
            workedOnBy?: number | null;
            /** @description How urgent the ticket is. */
            priority?: components["schemas"]["Priority"];
            /** @description The latest time for the resolution. */
            dueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for a first response. */
            firstResponseDueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The ids of all tags. Not together with `addTagIds` or `removeTagIds`. */
            tagIds?: number[];
            /**
             * Format: int32
             * @description The id of the assigned agent.
             */
            agentId?: number | null;
            /** @description The subject. */
            subject?: string;
            /** @description The summary. */
            summary?: string;
            /** @description The id of the customer. */
            customerId?: string | null;
            /**
             * Format: int32
             * @description How certain the identity of the customer is.
             */
            customerLegitimation?: number;
            /**
             * Format: int32
             * @description The id of the partner.
             */
            partnerId?: number | null;
            /** @description manual_spam or manual_clean. */
            spamStatus?: components["schemas"]["SpamStatus"];
            /** @description Data that clients store with the ticket. At most 1 MiB of JSON. At most 32 levels deep. */
            clientData?: {
                [key: string]: unknown;
            } | null;
            /** @description The ids of tags to add. */
            addTagIds?: number[];
            /** @description The ids of tags to remove. */
            removeTagIds?: number[];
            /** @description Requests a new analysis by AI instead of a change. */
            refreshMode?: components["schemas"]["RefreshMode"];
            /**
             * @deprecated
             * @description Use `refreshMode` full.
             */
            refresh?: boolean;
            /**
             * @deprecated
             * @description Use `refreshMode` tags.
             */
            refreshTags?: boolean;
            /**
             * Format: int32
             * @description The id of the mailbox from which the ticket is sent. It must be enabled.
             */
            subchannelId?: number | null;
        };
        /** @description An action that an AI agent proposes for a ticket. */
        TicketIntent: {
            /**
             * Format: int32
             * @description Assigned by the service.
             */
            id: number;
            /**
             * Format: int32
             * @description The ticket it belongs to.
             */
            ticketId: number;
            /**
             * Format: int32
             * @description The AI agent that proposes it.
             */
            aiAgentId: number;
            /** @description The code of the action. */
            code: string;
            /** @description The name of the action. */
            name: string;
            /** @description The contract that the action is about. */
            contractId: string | null;
            /**
             * Format: double
             * @description How certain the detection is, from 0 to 1.
             */
            confidence: number | null;
            /** @description The confidence as a colour. */
            confidenceColor: components["schemas"]["ConfidenceColor"];
            /** @description Whether a person has confirmed it. */
            verified: boolean;
            /** @description The status of the intent. */
            status: components["schemas"]["TicketIntentStatus"];
            /** @description The message that the customer would get. */
            messagePreview: string | null;
            /** @description The addresses that would get it. */
            recipient: string | null;
            /** @description The data of the action. */
            data: {
                [key: string]: unknown;
            } | null;
            /** @description The options that an agent can choose from. */
            options: components["schemas"]["IntentOption"][];
            /** @description Information for the agent. */
            infos: components["schemas"]["IntentInfo"][];
            /** @description The result, once executed. */
            outcome: components["schemas"]["IntentOutcome"] | null;
        };
        /**
         * @description The status of an intent.
         *
         *     - `ready`: Can be executed.
         *     - `executed`: Was executed.
         *     - `invalidated`: No longer applies to the ticket.
         * @enum {string}
         */
        TicketIntentStatus: "ready" | "executed" | "invalidated";
        /** @description An intent in a list of tickets. */
        TicketIntentSummary: {
            /**
             * Format: int32
             * @description Assigned by the service.
             */
            id: number;
            /**
             * Format: int32
             * @description The AI agent that proposes it.
             */
            aiAgentId: number;
            /** @description The name of the action. */
            name: string;
            /** @description The confidence as a colour. */
            confidenceColor: components["schemas"]["ConfidenceColor"];
            /** @description Information for the agent. */
            infos: components["schemas"]["IntentInfo"][];
        };
        /**
         * @description Which tickets a list or a queue contains.
         *
         *     - `all`: All tickets; the default.
         *     - `skills`: The tickets that match the skills of the caller, without spam.
         * @enum {string}
         */
        TicketScope: "all" | "skills";
        /**
         * @description The status of a ticket.
         *
         *     - `open`: Waits for an agent; the default.
         *     - `pending`: Waits for something else; reopened at `dueBy` if that is set.
         *     - `closed`: Done.
         * @enum {string}
         */
        TicketStatus: "open" | "pending" | "closed";
        /** @description A ticket in a list: the compact form. */
        TicketSummary: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description Whether the ticket is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description The sender: an e-mail address or another identifier; null for channel system. */
            from: string | null;
            /** @description The name of the requester, or of the sending mailbox. */
            fromName: string | null;
            /** @description The recipients: e-mail addresses, telephone numbers or a chat group, by channel. */
            to: string[];
            /** @description The recipients of copies. */
            cc: string[];
            /** @description The recipients of blind copies; outgoing e-mail only. */
            bcc: string[];
            /**
             * @deprecated
             * @description Use `replyRecipients.cc`.
             */
            ccEmails: string[];
            /**
             * @deprecated
             * @description Use `replyRecipients.bcc`.
             */
            bccEmails: string[];
            /** @description The recipients of a reply; null for system tickets. */
            replyRecipients: components["schemas"]["ReplyRecipients"] | null;
            /**
             * Format: int32
             * @description The id of the mailbox.
             */
            subchannelId: number | null;
            /** @description The unique id of the ticket in another ticketing system. */
            externalTicketId: string | null;
            /** @description The interface through which the ticket was created. */
            interface: string;
            /** @description The mood of the customer, detected by AI. */
            sentiment: string | null;
            /** @description The name of the detected language. */
            language: string | null;
            /** @description The ISO 639-1 code of the detected language. */
            languageCode: string | null;
            /** @description How far AI has processed the ticket. */
            aiSupportLevel: components["schemas"]["AiSupportLevel"];
            /** @description Whether the ticket is spam, and who decided it; null if not decided. */
            spamStatus: components["schemas"]["SpamStatus"] | null;
            /** @description Whether the customer is online now. */
            isCustomerActive: boolean;
            /** @description How urgent the ticket is. */
            priority: components["schemas"]["Priority"];
            /** @description The way by which the request was received. */
            channel: components["schemas"]["Channel"];
            /** @description The status of the ticket. */
            status: components["schemas"]["TicketStatus"];
            /** @description A summary of the request. */
            summary: string | null;
            /** @description The subject. */
            subject: string | null;
            /**
             * @description When the ticket was created.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When the ticket was changed last.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
            /**
             * @description The latest time for a first response.
             * @example 2026-01-31 09:10:00
             */
            firstResponseDueBy: string | null;
            /**
             * @description The latest time for the resolution.
             * @example 2026-01-31 09:10:00
             */
            dueBy: string | null;
            /**
             * @description When the last message was received or sent.
             * @example 2026-01-31 09:10:00
             */
            lastMessageAt: string | null;
            /**
             * @description When the last message of the customer was received.
             * @example 2026-01-31 09:10:00
             */
            lastCustomerMessageAt: string | null;
            /** @description The customer's tags. */
            customer: components["schemas"]["CustomerSummary"] | null;
            /** @description The id of the primary customer; null if not detected or not set. */
            customerId: string | null;
            /** @description The id of the primary contract; null if not detected or not set. */
            contractId: string | null;
            /**
             * Format: int32
             * @description The id of the associated partner.
             */
            partnerId: number | null;
            /**
             * Format: int32
             * @description How certain the identity of the customer is, from 0 to 100.
             */
            customerLegitimation: number;
            /**
             * Format: int32
             * @description The id of the assigned agent.
             */
            agentId: number | null;
            /** @description The tags. */
            tags: components["schemas"]["Tag"][];
            /** @description The ids of the tags. */
            tagIds: number[];
            /** @description The actions that AI agents propose. */
            intents: components["schemas"]["TicketIntentSummary"][];
            /** @description The source data of the originating system; only with `includeRawData=true`. */
            rawData?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description When a proposed action will be executed automatically.
             * @example 2026-01-31 09:10:00
             */
            autoExecuteAt: string | null;
            /** @description The unique id of the chat conversation; channel chat only. */
            channelId: string | null;
            /**
             * @description When the ticket was closed; null while it is not closed.
             * @example 2026-01-31 09:10:00
             */
            closedAt: string | null;
            /** @description Why the legitimation is not higher; only if it is from 10 to 19. */
            customerLegitimationMessage?: string;
            /** @description The author of the latest response. */
            lastResponseAuthor: components["schemas"]["Agent"] | null;
            /** @description The assigned agent. */
            agent: components["schemas"]["Agent"] | null;
            /** @description The ids of the assigned agents: `[agentId]` or `[]`. */
            agentIds: number[];
            /** @description The assigned agents. */
            agents: components["schemas"]["Agent"][];
            /** @description The ids of the agents who worked on the ticket in the last hour. */
            workedOnByIds: number[];
            /** @description The agents who worked on the ticket in the last hour. */
            workedOnBy: components["schemas"]["Agent"][];
            /** @description Data that clients store with the ticket. */
            clientData: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the caller has the skills for the ticket. */
            hasRequiredSkills: boolean;
            /**
             * Format: int32
             * @description The number of changes of the ticket; increases by one with each.
             */
            version: number;
            /**
             * Format: int32
             * @description The profile that created the ticket.
             */
            createdBy: number | null;
        };
        /** @description The changes of a message. By RPC, `update_mask` names the fields to change. */
        UpdateConversationRequest: {
            /** @description The text. */
            content?: components["schemas"]["MessageContent"];
            /** @description False publishes a draft. */
            isDraft?: boolean;
            /** @description The recipients. Only of a draft. */
            to?: string[];
            /** @description The recipients of copies. Only of a draft. */
            cc?: string[];
            /** @description The recipients of blind copies. Only of a draft. */
            bcc?: string[];
            /** @description The ids of the intents that the message is about. Only of a draft. */
            intentIds?: number[];
            /** @description The files. Only of a draft. */
            attachments?: components["schemas"]["DraftAttachmentInput"][];
            /**
             * Format: int32
             * @description The id of the mailbox to send from. Only of a draft.
             */
            subchannelId?: number;
            /** @description Whether a draft that is published is sent, as an e-mail. Default: true. False only records it. Only with `isDraft` false. */
            send?: boolean;
        };
        /** @description The message was changed. */
        UpdateConversationResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The changes of a tag. */
        UpdateTagRequest: {
            /** @description The name, unique under its parent, without regard to case. */
            name?: string;
            /**
             * Format: int32
             * @description The id of the parent; null makes it a top-level tag.
             */
            parent?: number | null;
            /** @description The kind of object to which the tag can be attached. */
            reference?: components["schemas"]["TagReference"];
            /** @description The kind of property that the tag describes. */
            type?: components["schemas"]["TagType"];
            /** @description The audience of the tag. */
            visibility?: components["schemas"]["TagVisibility"];
            /** @description A colour for display: `#rgb` or `#rrggbb`. */
            color?: string | null;
            /** @description Whether a skill tag counts when tickets are matched to agents. */
            routingRelevant?: boolean;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should be resolved.
             */
            sla?: number | null;
            /**
             * Format: int32
             * @description Within how many seconds of business hours a ticket with this tag should get a first response.
             */
            firstResponseSla?: number | null;
            /** @description The priority that a ticket with this tag has at least. */
            priority?: components["schemas"]["Priority"] | null;
            /** @description How the tag is detected in a text. */
            detection?: components["schemas"]["TagDetectionInput"];
        };
        /** @description The changed tag. */
        UpdateTagResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The tag. */
            tag: components["schemas"]["Tag"] | null;
        };
        /** @description The changes of a ticket. By RPC, `update_mask` names the fields to change; a field that is named but unset is cleared. */
        UpdateTicketRequest: {
            /** @description The id of the contract. */
            contractId?: string | null;
            /** @description The status. It is written, with an event, even if it is the same. */
            status?: components["schemas"]["TicketStatus"];
            /**
             * Format: int32
             * @description The id of a profile to add to those who work on the ticket; null removes the caller.
             */
            workedOnBy?: number | null;
            /** @description How urgent the ticket is. */
            priority?: components["schemas"]["Priority"];
            /** @description The latest time for the resolution. */
            dueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The latest time for a first response. */
            firstResponseDueBy?: components["schemas"]["DateTimeInput"] | null;
            /** @description The ids of all tags. */
            tagIds?: number[];
            /**
             * Format: int32
             * @description The id of the mailbox from which the ticket is sent. It must be enabled.
             */
            subchannelId?: number | null;
        };
        /** @description The changed ticket. */
        UpdateTicketResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The ticket in full form. */
            ticket: components["schemas"]["Ticket"] | null;
        };
        /** @description The changes were applied. */
        UpdateTicketsResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description A rule by which the system proposes an action for a ticket, and how the action is executed. */
        AiAgent: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The stable name for references, unique. */
            slug: string;
            /** @description The name, which its intents show. */
            name: string;
            /** @description Its purpose. */
            description: string | null;
            /** @description Whether it proposes anything, and whether its intents can be executed. */
            enabled: boolean;
            /** @description The channels of the tickets for which it proposes something; empty: all. */
            channels: components["schemas"]["Channel"][];
            /** @description For which tickets it proposes something. */
            detection: components["schemas"]["AiAgentDetection"] | null;
            /** @description Whether it proposes something only for tickets whose customer is known. */
            customerNeeded: boolean;
            /** @description A JSON Schema of the data of its intents. */
            parameters: {
                [key: string]: unknown;
            } | null;
            /** @description The options that its intents offer. */
            options: components["schemas"]["IntentOption"][];
            /** @description How its intents are executed. */
            executor: components["schemas"]["AiExecutor"] | null;
            /**
             * Format: int32
             * @description After how many minutes an intent with a recommended option is executed by the system; null: never.
             */
            autoExecuteAfterMinutes: number | null;
            /**
             * @description When it was created.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When it was last changed.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
            /** @description The callers who may execute its intents. */
            executableBy: components["schemas"]["AiAgentExecutableBy"] | null;
            /** @description Whether its intents can be executed for a closed ticket; null: unless its executor is of type http. */
            allowClosed: boolean | null;
        };
        /** @description For which tickets an AI agent proposes something: those that match one of the keywords or have one of the tags. */
        AiAgentDetection: {
            /** @description Words or parts of sentences of the subject or the text, without regard to case and accents. */
            keywords: string[];
            /** @description Tags of the ticket, by id. */
            tagIds: number[];
            /**
             * Format: double
             * @description How certain the detection must be, from 0 to 1.
             */
            minConfidence: number | null;
        };
        /** @description For which tickets an AI agent proposes something: those that match one of the keywords or have one of the tags. */
        AiAgentDetectionInput: {
            /** @description Words or parts of sentences of the subject or the text, without regard to case and accents. */
            keywords?: string[] | null;
            /** @description Tags of the ticket, by id. */
            tagIds?: number[] | null;
            /**
             * Format: double
             * @description How certain the detection must be, from 0 to 1.
             */
            minConfidence?: number | null;
        };
        /** @description The callers who may execute the intents of an AI agent: callers of one of the kinds who have the right. It does not limit automatic execution by the system. */
        AiAgentExecutableBy: {
            /** @description Kinds of profiles. Empty: all, but for an executor of type http neither vendor nor vendorPartner. */
            kinds: string[];
            /** @description The right that is needed; null: none. */
            permission: string | null;
        };
        /** @description The callers who may execute the intents of an AI agent: callers of one of the kinds who have the right. It does not limit automatic execution by the system. */
        AiAgentExecutableByInput: {
            /** @description Kinds of profiles. Empty: all, but for an executor of type http neither vendor nor vendorPartner. */
            kinds?: ("user" | "vendor" | "vendorPartner" | "serviceWorker" | "codeExecutor" | "system")[] | null;
            /** @description The right that is needed; null: none. */
            permission?: string | null;
        };
        /** @description How the intents of an AI agent are executed. */
        AiExecutor: {
            /** @description The kind of action. The other fields belong to some types only. */
            type: components["schemas"]["AiExecutorType"] | null;
            /** @description http: the URL of the backend system. */
            url: string | null;
            /** @description http: POST, PUT, PATCH or DELETE. Default: POST. */
            method: string | null;
            /** @description http: further headers, name to value. Values are stored encrypted, and returned as null; a value that is given as null keeps what is stored, unless the URL names another server. */
            headers: {
                [key: string]: unknown;
            } | null;
            /** @description http: the key with which requests are signed (HMAC-SHA256). Stored encrypted, never returned; absent or null keeps what is stored. */
            secret: string | null;
            /**
             * Format: int32
             * @description http: how long the backend system may take. Default: 10000.
             */
            timeoutMs: number | null;
            /** @description http: where the parts of the outcome are in the response: some of `responseCode`, `success`, `messageLocalized`, `message`, `messageType` (the format of `message`, `text` or `html`), each with a JSON Pointer. */
            responseMapping: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int32
             * @description reply: the response template.
             */
            templateId: number | null;
            /** @description updateTicket: the fields to change, as in `PATCH /ticket`. */
            fields: {
                [key: string]: unknown;
            } | null;
        };
        /** @description How the intents of an AI agent are executed. */
        AiExecutorInput: {
            /** @description The kind of action. The other fields belong to some types only. */
            type: components["schemas"]["AiExecutorType"];
            /**
             * Format: uri
             * @description http: the URL of the backend system.
             */
            url?: string | null;
            /**
             * @description http: POST, PUT, PATCH or DELETE. Default: POST.
             * @enum {string|null}
             */
            method?: "POST" | "PUT" | "PATCH" | "DELETE" | null;
            /** @description http: further headers, name to value. Values are stored encrypted, and returned as null; a value that is given as null keeps what is stored, unless the URL names another server. At most 16 KiB of JSON. At most 1 levels deep. */
            headers?: {
                [key: string]: unknown;
            } | null;
            /** @description http: the key with which requests are signed (HMAC-SHA256). Stored encrypted, never returned; absent or null keeps what is stored. */
            secret?: string | null;
            /**
             * Format: int32
             * @description http: how long the backend system may take. Default: 10000.
             */
            timeoutMs?: number | null;
            /** @description http: where the parts of the outcome are in the response: some of `responseCode`, `success`, `messageLocalized`, `message`, `messageType` (the format of `message`, `text` or `html`), each with a JSON Pointer. At most 16 KiB of JSON. At most 1 levels deep. */
            responseMapping?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int32
             * @description reply: the response template.
             */
            templateId?: number | null;
            /** @description updateTicket: the fields to change, as in `PATCH /ticket`. At most 64 KiB of JSON. At most 8 levels deep. */
            fields?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @description The kind of action of an executor.
         *
         *     - `http`: Calls a backend system.
         *     - `reply`: Replies with a response template.
         *     - `closeTicket`: Closes the ticket.
         *     - `updateTicket`: Changes the ticket.
         *     - `none`: Nothing: a person does it.
         * @enum {string}
         */
        AiExecutorType: "http" | "reply" | "closeTicket" | "updateTicket" | "none";
        /** @description The AI agent to create. */
        CreateAiAgentRequest: {
            /** @description The name, which its intents show. */
            name: string;
            /** @description The stable name for references. Default: derived from the name. */
            slug?: string | null;
            /** @description Its purpose. */
            description?: string | null;
            /**
             * @description Whether it proposes anything, and whether its intents can be executed.
             * @default true
             */
            enabled?: boolean | null;
            /** @description The channels of the tickets for which it proposes something; empty: all. */
            channels?: components["schemas"]["Channel"][] | null;
            /** @description For which tickets it proposes something. Default: none. */
            detection?: components["schemas"]["AiAgentDetectionInput"] | null;
            /**
             * @description Whether it proposes something only for tickets whose customer is known.
             * @default false
             */
            customerNeeded?: boolean | null;
            /** @description A JSON Schema of the data of its intents, without `pattern` and `$ref`. At most 64 KiB of JSON. At most 16 levels deep. */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** @description The options that its intents offer. */
            options?: components["schemas"]["IntentOptionInput"][] | null;
            /** @description How its intents are executed. Default: type none. */
            executor?: components["schemas"]["AiExecutorInput"] | null;
            /**
             * Format: int32
             * @description After how many minutes an intent with a recommended option is executed by the system. Default: never.
             */
            autoExecuteAfterMinutes?: number | null;
            /** @description The callers who may execute its intents. */
            executableBy?: components["schemas"]["AiAgentExecutableByInput"] | null;
            /** @description Whether its intents can be executed for a closed ticket. Default: unless its executor is of type http. */
            allowClosed?: boolean | null;
        };
        /** @description The AI agent was deleted. */
        DeleteAiAgentResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The intent to execute, and its data. */
        ExecuteIntentRequest: {
            /**
             * Format: int32
             * @description The id of the intent once more; it must be that of the path.
             */
            intentId?: number | null;
            /** @description The slug of the AI agent, if an intent is to be created. */
            code?: string | null;
            /**
             * Format: int32
             * @description The ticket, if an intent is to be created.
             */
            ticketId?: number | null;
            /**
             * @description Whether the customer gets an e-mail about the outcome, and the ticket is closed, after a success.
             * @default false
             */
            informCustomer?: boolean | null;
            /**
             * @description Whether everything is only checked and planned, and nothing is written.
             * @default false
             */
            dryRun?: boolean | null;
            /** @description The data of the intent: replaces its members of the same names. At most 256 KiB of JSON. At most 16 levels deep. */
            data?: {
                [key: string]: unknown;
            } | null;
            /** @description The contract that the intent must have. */
            contractId?: string | null;
        };
        /** @description An option of an intent that an agent can choose. */
        IntentOptionInput: {
            /** @description The value of `data._action` in an execution of this option. */
            type: string;
            /** @description The label of the button. */
            name: string;
            /** @description The icon of the button. */
            icon?: string | null;
            /** @description Whether this option is recommended. */
            recommended?: boolean | null;
            /**
             * Format: int32
             * @description The position among the options.
             */
            order?: number | null;
        };
        /** @description A page of AI agents. */
        ListAiAgentsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The AI agents, by id. */
            aiAgents: components["schemas"]["AiAgent"][];
            /**
             * Format: int32
             * @description How many there are.
             */
            total: number;
            /**
             * Format: int32
             * @description How many were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of AI agents.
             */
            limit: number;
        };
        /** @description A page of sessions. */
        ListSessionsResponse: {
            /** @description The sessions. */
            sessions: components["schemas"]["AssistantSession"][];
            /**
             * Format: int32
             * @description How many match.
             */
            total: number;
            /**
             * Format: int32
             * @description How many matching sessions were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of sessions.
             */
            limit: number;
        };
        /** @description The changes of an AI agent. By RPC, `update_mask` names the fields to change. */
        UpdateAiAgentRequest: {
            /** @description The name, which its intents show. */
            name?: string;
            /** @description The stable name for references. */
            slug?: string;
            /** @description Its purpose. */
            description?: string | null;
            /** @description Whether it proposes anything, and whether its intents can be executed. */
            enabled?: boolean;
            /** @description The channels of the tickets for which it proposes something; empty: all. */
            channels?: components["schemas"]["Channel"][];
            /** @description For which tickets it proposes something; replaces all of it. */
            detection?: components["schemas"]["AiAgentDetectionInput"];
            /** @description Whether it proposes something only for tickets whose customer is known. */
            customerNeeded?: boolean;
            /** @description A JSON Schema of the data of its intents, without `pattern` and `$ref`. At most 64 KiB of JSON. At most 16 levels deep. */
            parameters?: {
                [key: string]: unknown;
            } | null;
            /** @description The options that its intents offer, in place of those before. */
            options?: components["schemas"]["IntentOptionInput"][];
            /** @description How its intents are executed; replaces all of it but secrets that are not given. */
            executor?: components["schemas"]["AiExecutorInput"];
            /**
             * Format: int32
             * @description After how many minutes an intent with a recommended option is executed by the system; null: never.
             */
            autoExecuteAfterMinutes?: number | null;
            /** @description The callers who may execute its intents; replaces all of it. */
            executableBy?: components["schemas"]["AiAgentExecutableByInput"];
            /** @description Whether its intents can be executed for a closed ticket; null: unless its executor is of type http. */
            allowClosed?: boolean | null;
        };
        /** @description The changed AI agent. */
        UpdateAiAgentResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The AI agent. */
            aiAgent: components["schemas"]["AiAgent"] | null;
        };
        /** @description The e-mail template to create. */
        CreateEmailTemplateRequest: {
            /** @description The name, unique without regard to case. */
            name: string;
            /** @description HTML and Handlebars with `%MESSAGE%` once, where the message is inserted. At most 1 MiB in UTF-8. */
            template: string;
        };
        /** @description The response template to create. */
        CreateTemplateRequest: {
            /** @description The text, in HTML and Handlebars. At most 1 MiB in UTF-8. */
            message: string;
            /** @description Its purpose. */
            description?: string | null;
            /**
             * Format: int32
             * @description The tag that categorises it.
             */
            tagId?: number | null;
            /**
             * Format: int32
             * @description The e-mail template around it. Default: that of the setting `genericTemplateId`.
             */
            emailTemplateId?: number | null;
            /** @description The subject of mails that are not a reply, in Handlebars. */
            subject?: string | null;
            /** @description The ids of tickets for which it is an example. */
            exampleTicketIds?: number[] | null;
            /** @description Files to attach to each message that is written with it. */
            attachments?: components["schemas"]["AttachmentInput"][] | null;
        };
        /** @description The e-mail template was deleted. */
        DeleteEmailTemplateResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The response template was deleted. */
        DeleteTemplateResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The text around a message in a mail: a greeting, a signature. */
        EmailTemplate: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The name, unique without regard to case. */
            name: string;
            /** @description HTML and Handlebars with `%MESSAGE%` once, where the message is inserted. */
            template: string;
        };
        /** @description A page of e-mail templates. */
        ListEmailTemplatesResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The e-mail templates, by id. */
            emailTemplates: components["schemas"]["EmailTemplate"][];
            /**
             * Format: int32
             * @description How many there are.
             */
            total: number;
            /**
             * Format: int32
             * @description How many were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of e-mail templates.
             */
            limit: number;
        };
        /** @description A page of response templates. */
        ListTemplatesResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The templates, by id. */
            templates: components["schemas"]["Template"][];
            /**
             * Format: int32
             * @description How many templates match.
             */
            total: number;
            /**
             * Format: int32
             * @description How many matching templates were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of templates.
             */
            limit: number;
        };
        /** @description The text to render. */
        PreviewTemplateRequest: {
            /** @description The text, in HTML and Handlebars. At most 1 MiB in UTF-8. */
            message: string;
            /**
             * Format: int32
             * @description The ticket whose values are shown.
             */
            ticketId?: number | null;
            /** @description The contract whose values are shown. Default: that of the ticket. */
            contractId?: string | null;
            /**
             * Format: int32
             * @description The e-mail template around the text. Default: the text alone is rendered.
             */
            emailTemplateId?: number | null;
            /** @description The data that the text reads as `in`. At most 1 MiB of JSON. At most 32 levels deep. */
            templateData?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The rendered text. */
        PreviewTemplateResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The rendered text: HTML that may be shown. */
            preview: string;
            /** @description The values that it was rendered with: `{ticket, customer, contract, agent, intent, in}`. */
            variables: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A text for customers, written in HTML and Handlebars. */
        Template: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /**
             * Format: int32
             * @description The tag that categorises it.
             */
            tagId: number | null;
            /**
             * Format: int32
             * @description The e-mail template around it; null: that of the setting `genericTemplateId`.
             */
            emailTemplateId: number | null;
            /** @description Its purpose. */
            description: string;
            /** @description The text, in HTML and Handlebars. */
            message: string;
            /** @description The subject of mails that are not a reply, in Handlebars. */
            subject: string | null;
            /** @description The ids of tickets for which it is an example. */
            exampleTicketIds: number[];
            /** @description The files that are attached to a message that is written with it. */
            attachments: components["schemas"]["Attachment"][];
            /** @description The e-mail template with the text in the place of `%MESSAGE%`; the text alone if there is no e-mail template. */
            mergedTemplate: string;
            /** @description The e-mail template around the text, with `%MESSAGE%`; `%MESSAGE%` alone if there is none. */
            template: string;
            /** @description Always true. */
            success: boolean;
        };
        /** @description The changes of an e-mail template. By RPC, `update_mask` names the fields to change. */
        UpdateEmailTemplateRequest: {
            /** @description The name, unique without regard to case. */
            name?: string;
            /** @description HTML and Handlebars with `%MESSAGE%` once, where the message is inserted. At most 1 MiB in UTF-8. */
            template?: string;
        };
        /** @description The changed e-mail template. */
        UpdateEmailTemplateResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The e-mail template. */
            emailTemplate: components["schemas"]["EmailTemplate"] | null;
        };
        /** @description The changes of a response template. By RPC, `update_mask` names the fields to change. */
        UpdateTemplateRequest: {
            /** @description The text, in HTML and Handlebars. At most 1 MiB in UTF-8. */
            message?: string;
            /** @description Its purpose. */
            description?: string;
            /**
             * Format: int32
             * @description The tag that categorises it.
             */
            tagId?: number | null;
            /**
             * Format: int32
             * @description The e-mail template around it.
             */
            emailTemplateId?: number | null;
            /** @description The subject of mails that are not a reply, in Handlebars. */
            subject?: string | null;
            /** @description The ids of tickets for which it is an example. */
            exampleTicketIds?: number[];
            /** @description The files, in place of those before: new ones, or by `id` those that stay. */
            attachments?: components["schemas"]["DraftAttachmentInput"][];
        };
        /** @description The changed response template. */
        UpdateTemplateResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The response template. */
            template: components["schemas"]["Template"] | null;
        };
        /** @description A knowledge source that blocks a caller. */
        BlockedItem: {
            /**
             * Format: int32
             * @description The id of the source.
             */
            id: number;
            /** @description `article` for the source itself, `folder` for one above it. */
            kind: components["schemas"]["BlockedItemKind"];
        };
        /**
         * @description The kind of a source that blocks.
         *
         *     - `article`: The source itself.
         *     - `folder`: A source above it.
         * @enum {string}
         */
        BlockedItemKind: "article" | "folder";
        /** @description The knowledge source to create. */
        CreateKnowledgeSourceRequest: {
            /** @description The kind of text. */
            type: components["schemas"]["KnowledgeType"];
            /** @description The name. */
            name: string;
            /** @description The title. */
            title: string;
            /** @description The text, in Markdown or HTML. Only what is harmless of it is kept. At most 1 MiB in UTF-8. */
            text?: string | null;
            /** @description Where it comes from. */
            source?: string | null;
            /** @description The tags, by id. */
            tags?: number[] | null;
            /** @description The teams that may read it, and what is below it; empty: all. */
            teams?: number[] | null;
            /**
             * Format: int32
             * @description The source above it.
             */
            parent?: number | null;
            /**
             * @description Whether only its teams may know the text. Demands that `teams` is not empty.
             * @default false
             */
            confidential?: boolean | null;
            /**
             * @description Whether AI may not read it.
             * @default false
             */
            excluded?: boolean | null;
        };
        /** @description The skill to create. */
        CreateSkillRequest: {
            /** @description The name. */
            name: string;
            /** @description The stable name for references. Default: derived from the name. */
            slug?: string | null;
            /**
             * Format: int32
             * @description The AI agent that owns it. Default: all share it.
             */
            aiAgentId?: number | null;
            /** @description Its purpose. */
            description?: string | null;
            /** @description The text, in Markdown, as it was written. At most 1 MiB in UTF-8. */
            content?: string | null;
        };
        /** @description The skill that was created. */
        CreateSkillResponse: {
            /** @description The skill. */
            skill: components["schemas"]["Skill"] | null;
            /** @description Always true. */
            success: boolean;
        };
        /** @description The skill was deleted. */
        DeleteSkillResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description Whether the caller may read the text of a knowledge source. */
        KnowledgeAccess: {
            /** @description Whether the caller may not. */
            blocked: boolean;
            /** @description The sources whose teams the caller is not in: the source itself or sources above it. */
            blockedItems: components["schemas"]["BlockedItem"][];
        };
        /** @description An agent who has marked a knowledge source as read. */
        KnowledgeReader: {
            /**
             * Format: int32
             * @description The profile.
             */
            id: number;
            /** @description The name; empty if the token of the agent had none. */
            name: string;
            /**
             * @description When.
             * @example 2026-01-31 09:10:00
             */
            readAt: string | null;
        };
        /** @description A text that agents and AI read. */
        KnowledgeSource: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The kind of text. */
            type: components["schemas"]["KnowledgeType"];
            /** @description Whether it is in use. */
            status: components["schemas"]["KnowledgeStatus"];
            /** @description Where it comes from, for example a URL or a file path. */
            source: string;
            /** @description The name, for example that of its file. */
            name: string;
            /** @description The tags, by id. */
            tags: number[];
            /** @description The teams that may read it, and what is below it; empty: all. */
            teams: number[];
            /** @description The profiles that have marked it as read, by time: the last 1,000. Stays when the text changes, and is empty if the caller may not read the text. */
            readByAgents: components["schemas"]["KnowledgeReader"][];
            /** @description The title. */
            title: string;
            /** @description The text, in harmless Markdown or HTML; empty if the caller may not read it. */
            text: string;
            /** @description Whether only its teams may know the text. Demands that its own `teams` is not empty. */
            confidential: boolean;
            /** @description Whether AI may not read it. */
            excluded: boolean;
            /** @description Whether the caller may read the text. */
            access: components["schemas"]["KnowledgeAccess"] | null;
            /**
             * Format: int32
             * @description The source above it, whose teams also restrict who may read it.
             */
            parent: number | null;
            /**
             * @description When it was created.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When it was last changed. Marking it as read is no change.
             * @example 2026-01-31 09:10:00
             */
            modifiedAt: string | null;
        };
        /**
         * @description Whether a knowledge source is in use.
         *
         *     - `active`: It is in use.
         *     - `archived`: It is out of use, and can be put back.
         *     - `deleted`: It is deleted for good.
         * @enum {string}
         */
        KnowledgeStatus: "active" | "archived" | "deleted";
        /**
         * @description The kind of text of a knowledge source.
         *
         *     - `faq`: Questions and answers.
         *     - `work-instruction`: How something is done.
         *     - `document`: A document.
         *     - `other`: Anything else.
         *     - `news`: A message to agents.
         *     - `website`: A page of a website.
         * @enum {string}
         */
        KnowledgeType: "faq" | "work-instruction" | "document" | "other" | "news" | "website";
        /** @description A page of archived knowledge sources. */
        ListArchivedKnowledgeSourcesResponse: {
            /** @description The sources. */
            items: components["schemas"]["KnowledgeSource"][];
            /**
             * Format: int32
             * @description How many archived sources match.
             */
            total: number;
            /**
             * Format: int32
             * @description How many were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of sources.
             */
            limit: number;
        };
        /** @description A page of knowledge sources. */
        ListKnowledgeSourcesResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The sources. */
            knowledgeSources: components["schemas"]["KnowledgeSource"][];
            /**
             * Format: int32
             * @description How many match.
             */
            total: number;
            /**
             * Format: int32
             * @description How many matching sources were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of sources.
             */
            limit: number;
        };
        /** @description A page of skills. */
        ListSkillsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The skills, by slug. */
            skills: components["schemas"]["Skill"][];
            /**
             * Format: int32
             * @description How many skills match.
             */
            total: number;
            /**
             * Format: int32
             * @description How many matching skills were skipped.
             */
            offset: number;
            /**
             * Format: int32
             * @description The maximum number of skills.
             */
            limit: number;
        };
        /** @description The knowledge source was marked as read. */
        MarkKnowledgeSourceReadResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The source. */
            knowledgeSource: components["schemas"]["KnowledgeSource"] | null;
        };
        /** @description A text that tells AI agents how to do something. */
        Skill: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The stable name for references, unique among the skills of its owner. */
            slug: string;
            /**
             * Format: int32
             * @description The AI agent that owns it; null: all share it.
             */
            aiAgentId: number | null;
            /** @description The name. */
            name: string;
            /** @description Its purpose. */
            description: string | null;
            /** @description The text, in Markdown, as it was written. */
            content: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-01-31T09:10:00Z
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-01-31T09:10:00Z
             */
            modifiedAt: string | null;
        };
        /** @description The changes of a knowledge source. By RPC, `update_mask` names the fields to change. */
        UpdateKnowledgeSourceRequest: {
            /** @description The kind of text. */
            type?: components["schemas"]["KnowledgeType"];
            /** @description Whether it is in use. */
            status?: components["schemas"]["KnowledgeStatus"];
            /** @description Where it comes from. */
            source?: string;
            /** @description The name. */
            name?: string;
            /** @description The tags, by id. */
            tags?: number[];
            /** @description The teams that may read it, and what is below it; empty: all. */
            teams?: number[];
            /** @description The title. */
            title?: string;
            /** @description The text, in Markdown or HTML. Only what is harmless of it is kept. At most 1 MiB in UTF-8. */
            text?: string;
            /** @description Whether only its teams may know the text. */
            confidential?: boolean;
            /** @description Whether AI may not read it. */
            excluded?: boolean;
            /**
             * Format: int32
             * @description The source above it; null: none.
             */
            parent?: number | null;
        };
        /** @description The changed knowledge source. */
        UpdateKnowledgeSourceResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The source. */
            knowledgeSource: components["schemas"]["KnowledgeSource"] | null;
        };
        /** @description The changes of a skill. By RPC, `update_mask` names the fields to change. */
        UpdateSkillRequest: {
            /** @description The name. */
            name?: string;
            /** @description The stable name for references. */
            slug?: string;
            /**
             * Format: int32
             * @description The AI agent that owns it; null: all share it.
             */
            aiAgentId?: number | null;
            /** @description Its purpose. */
            description?: string | null;
            /** @description The text, in Markdown, as it was written. At most 1 MiB in UTF-8. */
            content?: string | null;
        };
        /** @description The changed skill. */
        UpdateSkillResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The skill. */
            skill: components["schemas"]["Skill"] | null;
        };
        /**
         * @description The format of a file.
         *
         *     - `xlsx`: A workbook with one sheet of typed cells.
         *     - `csv`: Comma-separated values in UTF-8, with a byte order mark and a header row.
         *     - `json`: An array of objects.
         * @enum {string}
         */
        ExportFormat: "xlsx" | "csv" | "json";
        /**
         * @description The state of an export.
         *
         *     - `waiting`: Nothing is written yet.
         *     - `running`: It is being written.
         *     - `finished`: The file can be read.
         *     - `failed`: It could not be made.
         *     - `withdrawn`: The file was removed because a ticket in it was deleted.
         * @enum {string}
         */
        ExportStatus: "waiting" | "running" | "finished" | "failed" | "withdrawn";
        /** @description An export that is made in the background. */
        ReportingExport: {
            /** @description The id of the export. */
            id: string;
            /** @description The state of the export. */
            status: components["schemas"]["ExportStatus"];
            /** @description The format of the file. */
            format: components["schemas"]["ExportFormat"];
            /**
             * Format: int32
             * @description How many rows have been written so far.
             */
            rows: number;
            /**
             * Format: int32
             * @description How many rows there will be; null before the export has begun.
             */
            total: number | null;
            /**
             * Format: date-time
             * @description When the export was requested.
             * @example 2026-01-31T09:10:00Z
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @description When the export was finished or failed.
             * @example 2026-01-31T09:10:00Z
             */
            finishedAt: string | null;
            /**
             * Format: date-time
             * @description When the file is removed.
             * @example 2026-01-31T09:10:00Z
             */
            expiresAt: string | null;
            /** @description The path of the file; null before the export is finished. */
            url: string | null;
        };
        /** @description The reporting row of a ticket. The fields are the columns of an export, in their order. */
        ReportingTicketRow: {
            /**
             * Format: int32
             * @description The id of the ticket.
             */
            id: number;
            /** @description The channel by which the request was received. */
            channel: components["schemas"]["Channel"];
            /** @description Whether the ticket is incoming, outgoing or internal. */
            direction: components["schemas"]["Direction"];
            /** @description The status of the ticket. */
            status: components["schemas"]["RowStatus"];
            /** @description How urgent it is. */
            priority: components["schemas"]["Priority"];
            /** @description The id of the contract. */
            contractId: string | null;
            /** @description The id of the customer. */
            customerId: string | null;
            /**
             * Format: int32
             * @description How certain the identity of the customer is, from 0 to 100.
             */
            customerLegitimation: number;
            /** @description The name of the top-level ancestor of the skill tag with the smallest id, or of that tag itself if it is a top-level tag. */
            topic: string | null;
            /** @description The name of the skill tag with the smallest id; null if it is a top-level tag. */
            subTopic: string | null;
            /** @description The names of all tags in the order of their ids, separated by commas. */
            allTags: string | null;
            /**
             * Format: int32
             * @description How many messages came from the customer.
             */
            incomingMessages: number | null;
            /**
             * Format: int32
             * @description How many messages went to the customer.
             */
            outgoingMessages: number | null;
            /**
             * Format: int32
             * @description How many messages were internal.
             */
            internalMessages: number | null;
            /**
             * Format: int32
             * @description How many changes people made.
             */
            manualWorkEntries: number | null;
            /**
             * Format: date-time
             * @description When the ticket was created.
             * @example 2026-01-31T09:10:00Z
             */
            createdAt: string | null;
            /**
             * Format: date-time
             * @description When the ticket was changed last.
             * @example 2026-01-31T09:10:00Z
             */
            modifiedAt: string | null;
            /**
             * Format: date-time
             * @description When the ticket was closed.
             * @example 2026-01-31T09:10:00Z
             */
            closedAt: string | null;
            /**
             * Format: date-time
             * @description The latest time for the resolution.
             * @example 2026-01-31T09:10:00Z
             */
            dueBy: string | null;
            /**
             * Format: date-time
             * @description When the last message was received or sent.
             * @example 2026-01-31T09:10:00Z
             */
            lastMessageAt: string | null;
            /**
             * Format: date-time
             * @description When the last message came from the customer.
             * @example 2026-01-31T09:10:00Z
             */
            lastCustomerMessageAt: string | null;
            /**
             * Format: int32
             * @description The seconds from the last message of the customer until the ticket was closed, or until now if it is not closed.
             */
            secondsSinceLastCustomerMessage: number | null;
            /**
             * Format: int32
             * @description The seconds from the creation of the ticket to its closing.
             */
            secondsToClose: number | null;
            /**
             * Format: int32
             * @description The seconds from `dueBy` to the closing of the ticket; negative if it was closed before `dueBy`.
             */
            secondsClosedAfterSLA: number | null;
            /** @description The e-mail address of the assigned agent; left out with the privacy level pseudonymized. */
            email?: string | null;
            /** @description The whole ticket as JSON; left out with the privacy level pseudonymized. */
            rawData?: string;
        };
        /**
         * @description The status of a ticket.
         *
         *     - `open`: Waits for an agent.
         *     - `closed`: Done.
         *     - `pending`: Waits for something else.
         *     - `resolved`: Solved, not closed yet.
         *     - `waitingOnCustomer`: Waits for the customer.
         *     - `waitingOnThirdParty`: Waits for a third party.
         * @enum {string}
         */
        RowStatus: "open" | "closed" | "pending" | "resolved" | "waitingOnCustomer" | "waitingOnThirdParty";
        /** @description The actor of a change. */
        Actor: {
            /**
             * Format: int32
             * @description The profile; unset if a service made the change by itself.
             */
            profileId: number | null;
            /** @description The kind of the profile, or "service". */
            kind: string;
        };
        /**
         * @description Why a ticket was changed.
         *
         *     - `request`: A request.
         *     - `analysis`: The analysis of a new ticket.
         *     - `refresh`: An analysis that a refresh flag requested; webhooks do not deliver its events.
         *     - `schedule`: A schedule.
         *     - `message`: An incoming message.
         *     - `execution`: The execution of an intent.
         *     - `deliveryFailed`: The failure of a delivery.
         *     - `import`: The creation of a ticket in bulk.
         * @enum {string}
         */
        ChangeCause: "request" | "analysis" | "refresh" | "schedule" | "message" | "execution" | "deliveryFailed" | "import";
        /** @description The subchannel to create. */
        CreateSubchannelRequest: {
            /** @description The channel. */
            channel: components["schemas"]["Channel"];
            /** @description The name, unique within the channel, without regard to case. */
            name: string;
            /**
             * @description Whether it becomes the default of its channel, in place of the one before.
             * @default false
             */
            isDefault?: boolean | null;
            /**
             * @description The interface by which its messages come in and go out.
             * @default internal
             */
            interface?: string | null;
            /**
             * @description Whether tickets may name it.
             * @default true
             */
            enabled?: boolean | null;
            /**
             * Format: int32
             * @description The e-mail template around its messages.
             */
            emailTemplateId?: number | null;
            /** @description The configuration of the channel. At most 16 KiB of JSON. At most 8 levels deep. */
            data?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description The webhook endpoint to create. */
        CreateWebhookRequest: {
            /** @description The URL. */
            url: string;
            /** @description Its purpose. */
            description?: string | null;
            /** @description The types of the events that are sent; empty for all. */
            eventTypes?: components["schemas"]["TicketChangeType"][] | null;
            /** @description The subchannels whose tickets are sent; empty for all tickets. */
            subchannelIds?: number[] | null;
            /**
             * @description Active or paused.
             * @default active
             */
            status?: components["schemas"]["WebhookStatus"] | null;
        };
        /** @description A webhook endpoint that was created, with its secret. */
        CreatedWebhook: components["schemas"]["Webhook"] & {
            /** @description The secret with which deliveries are signed, `whsec_…`. Null in a response that is sent again for an `Idempotency-Key`. */
            secret: string | null;
        };
        /** @description The subchannel was deleted. */
        DeleteSubchannelResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description The webhook endpoint was deleted. */
        DeleteWebhookResponse: {
            /** @description Always true. */
            success: boolean;
        };
        /** @description A field that changed. Times are spelt as RFC 3339 in UTC, with `Z`. When the ticket is deleted, the values of ids are erased from its events. */
        FieldChange: {
            /** @description The name of the field in JSON. */
            field: string;
            /** @description The value before; only for enums, ids and times. */
            oldValue?: unknown;
            /** @description The value now; only for enums, ids and times. */
            newValue?: unknown;
        };
        /** @description The settings of a category. */
        GetSettingsOfCategoryResponse: {
            /** @description The name of the category for people. */
            title: string;
            /** @description The groups. */
            groups: components["schemas"]["SettingsGroup"][];
        };
        /** @description A page of events. */
        ListEventsResponse: {
            /** @description The events, in the order in which they were received. */
            events: components["schemas"]["TicketChanged"][];
            /** @description The cursor after these events. */
            next: string;
        };
        /** @description The settings. */
        ListSettingsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The settings. */
            settings: components["schemas"]["Setting"][];
        };
        /** @description The subchannels. */
        ListSubchannelsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The subchannels. */
            subchannels: components["schemas"]["Subchannel"][];
        };
        /** @description A page of deliveries. */
        ListWebhookDeliveriesResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The deliveries. */
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description The cursor of the next page; null on the last page. */
            nextCursor: string | null;
        };
        /** @description A page of webhook endpoints. */
        ListWebhooksResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The endpoints. */
            webhooks: components["schemas"]["Webhook"][];
            /**
             * Format: int32
             * @description How many endpoints there are.
             */
            total: number;
            /**
             * Format: int32
             * @description The limit that was used.
             */
            limit: number;
            /**
             * Format: int32
             * @description The offset that was used.
             */
            offset: number;
        };
        /** @description The new value of a setting. */
        NamedValue: {
            /** @description The name of the setting. */
            name: string;
            /** @description The value; null restores the default. */
            value: unknown;
        };
        /** @description Which events to deliver. */
        RecoverWebhookRequest: {
            /** @description The start of the interval. */
            since: components["schemas"]["DateTimeInput"];
            /** @description The end of the interval, this second included; now if not given. */
            until?: components["schemas"]["DateTimeInput"] | null;
        };
        /** @description How many events will be delivered. */
        RecoverWebhookResponse: {
            /** @description Always true. */
            success: boolean;
            /**
             * Format: int32
             * @description The number of events.
             */
            count: number;
        };
        /** @description Which delivery to send again. */
        RedeliverWebhookDeliveryRequest: Record<string, never>;
        /** @description The delivery. */
        RedeliverWebhookDeliveryResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The delivery. */
            delivery: components["schemas"]["WebhookDelivery"] | null;
        };
        /** @description Which webhook endpoint gets a new secret. */
        RotateWebhookSecretRequest: Record<string, never>;
        /** @description The new secret. */
        RotateWebhookSecretResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The secret, `whsec_…`. Null in a response that is sent again for an `Idempotency-Key`. */
            secret: string | null;
        };
        /** @description A setting. */
        Setting: {
            /** @description The name. */
            name: string;
            /** @description The category. */
            category: components["schemas"]["SettingCategory"];
            /** @description The name of the group within the category. */
            group: string;
            /** @description The name for people. */
            label: string;
            /** @description The effect of the setting. */
            description: string;
            /** @description The type. */
            type: components["schemas"]["SettingType"];
            /** @description The values that it takes, as far as the type does not say it. */
            config: components["schemas"]["SettingConfig"] | null;
            /** @description The value; null for a secret. */
            value: unknown;
            /** @description The value that applies if none is set; null for a secret. */
            defaultValue: unknown;
        };
        /**
         * @description The topic of a setting.
         *
         *     - `general`: General.
         *     - `routing`: Routing.
         *     - `ai`: AI.
         *     - `email`: E-mail.
         *     - `customer`: Customers and contracts.
         *     - `reporting`: Reporting.
         *     - `security`: Security.
         *     - `webhooks`: Webhooks.
         * @enum {string}
         */
        SettingCategory: "general" | "routing" | "ai" | "email" | "customer" | "reporting" | "security" | "webhooks";
        /** @description The values that a setting takes. */
        SettingConfig: {
            /** @description The values to choose from. */
            options: components["schemas"]["SettingOption"][];
            /**
             * Format: int32
             * @description The smallest number, or the smallest number of characters.
             */
            min?: number;
            /**
             * Format: int32
             * @description The largest number, or the largest number of characters.
             */
            max?: number;
            /** @description A regular expression that the text must match. */
            pattern?: string;
            /** @description Whether a secret is set; only for secrets. */
            isSet?: boolean;
        };
        /** @description A value to choose. */
        SettingOption: {
            /** @description The value. */
            value: string;
            /** @description The name for people. */
            label: string;
        };
        /**
         * @description The type of a setting, which says how it is edited and what values it takes.
         *
         *     - `text`: A line of text.
         *     - `textarea`: A text of several lines.
         *     - `number`: A number.
         *     - `boolean`: True or false.
         *     - `select`: One of the options.
         *     - `multiselect`: Any of the options.
         *     - `json`: A JSON value of a certain shape.
         *     - `secret`: A text that is stored encrypted and never returned.
         *     - `color`: A colour, `#rgb` or `#rrggbb`.
         *     - `html`: HTML.
         * @enum {string}
         */
        SettingType: "text" | "textarea" | "number" | "boolean" | "select" | "multiselect" | "json" | "secret" | "color" | "html";
        /** @description Settings that belong together. */
        SettingsGroup: {
            /** @description The name. */
            name: string;
            /** @description The topic of the settings. */
            description: string;
            /** @description The settings. */
            settings: components["schemas"]["Setting"][];
        };
        /** @description A mailbox, a phone line or a chat account of the installation. */
        Subchannel: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The channel. */
            channel: components["schemas"]["Channel"];
            /** @description The name, unique within the channel, without regard to case. */
            name: string;
            /** @description Whether it is the default of its channel. A channel has one default at most. */
            isDefault: boolean;
            /** @description The interface by which its messages come in and go out. */
            interface: string;
            /** @description Whether tickets may name it. */
            enabled: boolean;
            /**
             * Format: int32
             * @description The e-mail template around its messages.
             */
            emailTemplateId: number | null;
            /** @description The configuration of the channel, for example `address`, `host`, `port` and `user` of a mailbox. A value whose key contains pass, secret, token, key or credential is stored encrypted, and returned as null. */
            data: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Which webhook endpoint is tested. */
        TestWebhookRequest: Record<string, never>;
        /** @description The delivery of the test message. */
        TestWebhookResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The delivery. */
            delivery: components["schemas"]["WebhookDelivery"] | null;
        };
        /**
         * @description The kind of a change of a ticket.
         *
         *     - `ticket.created`: It was created.
         *     - `ticket.updated`: It was changed.
         *     - `ticket.deleted`: It was deleted.
         *     - `conversation.created`: A message was added.
         *     - `conversation.published`: A draft was published.
         *     - `intent.executed`: An intent was executed.
         *     - `conversation.failed`: A message has not arrived.
         * @enum {string}
         */
        TicketChangeType: "ticket.created" | "ticket.updated" | "ticket.deleted" | "conversation.created" | "conversation.published" | "intent.executed" | "conversation.failed";
        /** @description A change of a ticket. Topic `ticketing.ticket.changed.v1`, key = ticket id. Delivered at least once, for each ticket in the order of `version`. */
        TicketChanged: {
            /** @description `evt_…`, ordered by time. */
            eventId: string;
            /** @description The kind of change. */
            type: components["schemas"]["TicketChangeType"];
            /**
             * Format: int32
             * @description The ticket.
             */
            ticketId: number;
            /**
             * Format: int32
             * @description The version of the ticket after the change.
             */
            version: number;
            /**
             * Format: int32
             * @description The mailbox of the ticket.
             */
            subchannelId: number | null;
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-01-31T09:10:00Z
             */
            occurredAt: string | null;
            /** @description The fields that changed. */
            changes: components["schemas"]["FieldChange"][];
            /** @description The actor of the change. */
            actor: components["schemas"]["Actor"] | null;
            /** @description Why it was changed. */
            cause: components["schemas"]["ChangeCause"];
            /** @description Whether the ticket was opened because its `dueBy` passed. */
            autoOpenedDueToDueDate: boolean;
            /**
             * Format: int32
             * @description The message, where one is concerned.
             */
            conversationId: number | null;
            /**
             * Format: int32
             * @description The intent, where one is concerned.
             */
            intentId: number | null;
        };
        /** @description The new value of a setting. */
        UpdateSettingRequest: {
            /** @description The value; null restores the default. */
            value: unknown;
        };
        /** @description The changed setting. */
        UpdateSettingResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The setting. */
            setting: components["schemas"]["Setting"] | null;
        };
        /** @description The new values of several settings. */
        UpdateSettingsRequest: {
            /** @description The settings, each at most once. */
            settings: components["schemas"]["NamedValue"][];
        };
        /** @description The changed settings. */
        UpdateSettingsResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The settings, in the order of the request. */
            settings: components["schemas"]["Setting"][];
        };
        /** @description The changes of a subchannel. */
        UpdateSubchannelRequest: {
            /** @description The name, unique within the channel, without regard to case. */
            name?: string;
            /** @description Whether it is the default of its channel. */
            isDefault?: boolean;
            /** @description The interface by which its messages come in and go out. */
            interface?: string;
            /** @description Whether tickets may name it. */
            enabled?: boolean;
            /**
             * Format: int32
             * @description The e-mail template around its messages.
             */
            emailTemplateId?: number | null;
            /** @description The configuration of the channel; replaces all of it. A secret value that is given as null keeps what is stored under its path; in a list it must be given. At most 16 KiB of JSON. At most 8 levels deep. */
            data?: {
                [key: string]: unknown;
            };
        };
        /** @description The changed subchannel. */
        UpdateSubchannelResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The subchannel. */
            subchannel: components["schemas"]["Subchannel"] | null;
        };
        /** @description The changes of a webhook endpoint. */
        UpdateWebhookRequest: {
            /** @description The URL. */
            url?: string;
            /** @description Its purpose. */
            description?: string | null;
            /** @description The types of the events that are sent; empty for all. */
            eventTypes?: components["schemas"]["TicketChangeType"][];
            /** @description The subchannels whose tickets are sent; empty for all tickets. */
            subchannelIds?: number[];
            /** @description Active or paused. */
            status?: components["schemas"]["WebhookStatus"];
        };
        /** @description The changed webhook endpoint. */
        UpdateWebhookResponse: {
            /** @description Always true. */
            success: boolean;
            /** @description The endpoint. */
            webhook: components["schemas"]["Webhook"] | null;
        };
        /** @description A URL to which changes of tickets are sent. */
        Webhook: {
            /**
             * Format: int32
             * @description Assigned by the service, never reused.
             */
            id: number;
            /** @description The URL. */
            url: string;
            /** @description Its purpose. */
            description: string | null;
            /** @description The types of the events that are sent; empty for all. */
            eventTypes: components["schemas"]["TicketChangeType"][];
            /** @description The subchannels whose tickets are sent; empty for all tickets. They cannot be deleted meanwhile. */
            subchannelIds: number[];
            /** @description The state. */
            status: components["schemas"]["WebhookStatus"];
            /** @description Why it was disabled. */
            disabledReason: components["schemas"]["WebhookDisabledReason"] | null;
            /**
             * @description When it was created.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
        };
        /** @description An attempt to deliver an event. */
        WebhookAttempt: {
            /**
             * @description When it began.
             * @example 2026-01-31 09:10:00
             */
            at: string | null;
            /**
             * Format: int32
             * @description How long it took, in milliseconds.
             */
            durationMs: number;
            /**
             * Format: int32
             * @description The status of the response; null if there was none.
             */
            status: number | null;
            /** @description Why it failed without a whole response, for example "timeout"; null otherwise. "expired": no attempt was made, because the delivery waited for 30 days. */
            errorKind: string | null;
            /** @description The first 4 KiB of the response; null after its ticket was deleted. */
            responseStart: string | null;
            /** @description The address that was called; null after its ticket was deleted. */
            address: string | null;
        };
        /** @description The delivery of an event to a webhook endpoint. */
        WebhookDelivery: {
            /** @description `dlv_…`, ordered by time. */
            id: string;
            /** @description The id of the event, which is the `webhook-id` of every attempt. */
            eventId: string;
            /** @description The type of the event. */
            eventType: string;
            /**
             * Format: int32
             * @description The ticket; null for a test message.
             */
            ticketId: number | null;
            /** @description The state. */
            status: components["schemas"]["WebhookDeliveryStatus"];
            /**
             * @description When the delivery was added: soon after the event was received, or when it was recovered.
             * @example 2026-01-31 09:10:00
             */
            createdAt: string | null;
            /**
             * @description When the next attempt is due; null if there is none. While the endpoint is paused, or an earlier delivery of the ticket is not made yet, it waits longer.
             * @example 2026-01-31 09:10:00
             */
            nextAttemptAt: string | null;
            /** @description The last attempts, the oldest first. */
            attempts: components["schemas"]["WebhookAttempt"][];
        };
        /**
         * @description The state of a delivery.
         *
         *     - `scheduled`: Not attempted yet.
         *     - `retrying`: An attempt failed, and another will be made.
         *     - `delivered`: The endpoint responded with a status of 200 to 299.
         *     - `exhausted`: All attempts failed, or the endpoint was disabled.
         * @enum {string}
         */
        WebhookDeliveryStatus: "scheduled" | "retrying" | "delivered" | "exhausted";
        /**
         * @description Why a webhook endpoint was disabled.
         *
         *     - `gone`: It responded with 410 Gone.
         *     - `failedForDays`: It only failed for five days.
         * @enum {string}
         */
        WebhookDisabledReason: "gone" | "failedForDays";
        /**
         * @description The state of a webhook endpoint.
         *
         *     - `active`: Deliveries are made.
         *     - `paused`: Deliveries wait.
         *     - `disabled`: No deliveries are made.
         * @enum {string}
         */
        WebhookStatus: "active" | "paused" | "disabled";
    };
    responses: {
        /** @description The request is not valid; `errors` lists the invalid parts. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The credential is missing or invalid. */
        Unauthenticated: {
            headers: {
                /** @description How to authenticate. */
                "WWW-Authenticate": "Bearer";
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The caller may not do this. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not `application/json`. */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The caller has sent too many requests. */
        TooManyRequests: {
            headers: {
                /** @description Seconds to wait. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The headers are larger than 16 KiB. */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An internal error. The logs contain details under the `traceId`. */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description A part of the system that the request needs is unavailable. */
        ServiceUnavailable: {
            headers: {
                /** @description Seconds to wait. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something that the request names does not exist. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The change conflicts with what is stored. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The expected version is not the current one. */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than this route accepts. */
        ContentTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The file has no byte of the range that `Range` names. */
        RangeNotSatisfiable: {
            headers: {
                /** @description How many bytes the file has. */
                "Content-Range": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The `Idempotency-Key` was used for another request. */
        KeyReused: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The response of a service was invalid or incomplete. */
        BadGateway: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request took too long. */
        DeadlineExceeded: {
            headers: {
                /** @description Seconds to wait. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description What the request names was removed. */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description The session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    /** @description The session cookie. */
                    "Set-Cookie": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        success: true;
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["ServiceUnavailable"];
        };
    };
    createTicket: {
        parameters: {
            query?: {
                /** @description When AI analyses the ticket. */
                process?: components["schemas"]["AiProcess"];
                /** @description Whether the response has `rawData`. */
                includeRawData?: boolean;
            };
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTicketRequest"];
            };
        };
        responses: {
            /** @description The ticket that was created or updated. */
            200: {
                headers: {
                    /** @description The version, as a strong entity tag. */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateTickets: {
        parameters: {
            query?: {
                /** @description Whether the changes are recorded in the worklog. */
                includeInWorklog?: boolean;
            };
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The changes, one for each ticket. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["TicketChange"][];
            };
        };
        responses: {
            /** @description The changes were applied. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateTicketsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createTickets: {
        parameters: {
            query?: {
                /** @description When AI analyses the tickets. Not `realtime`. */
                process?: components["schemas"]["AiProcess"];
            };
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTicketsRequest"];
            };
        };
        responses: {
            /** @description The outcome of a bulk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTicketsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    searchTickets: {
        parameters: {
            query?: {
                /** @description Whether the tickets have `rawData`. */
                includeRawData?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SearchTicketsRequest"];
            };
        };
        responses: {
            /** @description A page of tickets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchTicketsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getLatestTickets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetLatestTicketsRequest"];
            };
        };
        responses: {
            /** @description The ids of the neighbours of a ticket in the queue. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetLatestTicketsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTicket: {
        parameters: {
            query?: {
                /** @description Whether the contract is read from the ERP system again first. */
                refresh?: boolean;
                /** @description Whether only cached data of the ERP system is used. */
                erpCacheOnly?: boolean;
                /** @description Whether the response has `sessions`. */
                includeSessions?: boolean;
                /** @description Whether the response has `rawData`. */
                includeRawData?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A ticket, its neighbours in the queue, and its assistant sessions. */
            200: {
                headers: {
                    /** @description The version, as a strong entity tag. */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTicketResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteTicket: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ticket was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteTicketResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateTicket: {
        parameters: {
            query?: {
                /** @description Whether the change is recorded in the worklog. */
                includeInWorklog?: boolean;
            };
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
                /** @description The expected version, as returned in `ETag`. If the current version is another one, the response is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateTicketRequest"];
            };
        };
        responses: {
            /** @description The changed ticket. */
            200: {
                headers: {
                    /** @description The version, as a strong entity tag. */
                    ETag: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateTicketResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTicketVariables: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The data that templates are rendered with. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTicketHistory: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: number;
                /** @description How many entries to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of history. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTicketHistoryResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** @description The maximum number of messages. */
                limit?: number;
                /** @description How many messages to skip. */
                offset?: number;
            };
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListConversationsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the message. */
                conversationId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A message. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the message. */
                conversationId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteConversationResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the message. */
                conversationId: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateConversationRequest"];
            };
        };
        responses: {
            /** @description The message was changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateConversationResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    replyToTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplyToTicketRequest"];
            };
        };
        responses: {
            /** @description The message that was written. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplyToTicketResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    storeConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StoreConversationRequest"];
            };
        };
        responses: {
            /** @description The message that was recorded. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreConversationResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    resendConversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the message. */
                conversationId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message is queued. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResendConversationResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes, for example `bytes=0-99`. Several ranges are ignored. */
                Range?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the attachment. */
                attachmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "*/*": string;
                };
            };
            /** @description The range that `Range` names. */
            206: {
                headers: {
                    /** @description Which bytes of how many these are. */
                    "Content-Range": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "*/*": string;
                };
            };
            /** @description The file is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the attachment. */
                attachmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attachment was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAttachmentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    searchCustomers: {
        parameters: {
            query?: {
                /** @description Words of the names, addresses and ids, each at least by its beginning; all of them must be found. */
                q?: string;
                /** @description The id of the customer. */
                customerId?: string;
                /** @description The id of a contract of the customer. */
                contractId?: string;
                /** @description The e-mail address of the customer or of a contract. */
                email?: string;
                /** @description The telephone number. */
                phone?: string;
                /** @description The first name. */
                firstname?: string;
                /** @description The last name. */
                lastname?: string;
                /** @description The postal code of the customer or of a contract. */
                zip?: string;
                /** @description The maximum number of customers. */
                limit?: number;
                /** @description How many customers to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of customers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchCustomersResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getRawMail: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes, for example `bytes=0-99`. Several ranges are ignored. */
                Range?: string;
            };
            path: {
                /** @description The id of the ticket. */
                ticketId: number;
                /** @description The id of the message. */
                conversationId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": string;
                };
            };
            /** @description The range that `Range` names. */
            206: {
                headers: {
                    /** @description Which bytes of how many these are. */
                    "Content-Range": string;
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": string;
                };
            };
            /** @description The file is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listTags: {
        parameters: {
            query?: {
                /** @description Part of the full name, without regard to case, so that a tag is found together with those below it. */
                q?: string;
                /** @description Only tags of this type. */
                type?: components["schemas"]["TagType"];
                /** @description Whether disabled tags are listed too. */
                includeDisabled?: boolean;
                /** @description The maximum number of tags. */
                limit?: number;
                /** @description How many matching tags to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tags. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListTagsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createTag: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTagRequest"];
            };
        };
        responses: {
            /** @description The tag that was created. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTagResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the tag. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tag"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteTag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the tag. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tag was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteTagResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateTag: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the tag. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateTagRequest"];
            };
        };
        responses: {
            /** @description The changed tag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateTagResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listAiAgents: {
        parameters: {
            query?: {
                /** @description The maximum number of AI agents. */
                limit?: number;
                /** @description How many AI agents to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of AI agents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAiAgentsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createAiAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAiAgentRequest"];
            };
        };
        responses: {
            /** @description The AI agent that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiAgent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getAiAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the AI agent. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The AI agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiAgent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteAiAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the AI agent. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The AI agent was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAiAgentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateAiAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the AI agent. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateAiAgentRequest"];
            };
        };
        responses: {
            /** @description The changed AI agent. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateAiAgentResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description The ticket. */
                ticketId?: number;
                /** @description The maximum number of sessions. */
                limit?: number;
                /** @description How many sessions to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSessionsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    executeIntent: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the intent; 0 creates one. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExecuteIntentRequest"];
            };
        };
        responses: {
            /** @description The outcome of the execution. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntentOutcome"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                /** @description Part of the description, the subject or the text, without regard to case. */
                q?: string;
                /** @description Only templates with this tag. */
                tagId?: number;
                /** @description The maximum number of templates. */
                limit?: number;
                /** @description How many matching templates to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of response templates. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListTemplatesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTemplateRequest"];
            };
        };
        responses: {
            /** @description The response template that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The response template was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteTemplateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateTemplateRequest"];
            };
        };
        responses: {
            /** @description The changed response template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateTemplateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    previewTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewTemplateRequest"];
            };
        };
        responses: {
            /** @description The rendered text. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewTemplateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getTemplateAttachment: {
        parameters: {
            query?: never;
            header?: {
                /** @description One range of bytes, for example `bytes=0-99`. Several ranges are ignored. */
                Range?: string;
            };
            path: {
                /** @description The id of the template. */
                id: number;
                /** @description The id of the attachment. */
                attachmentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "*/*": string;
                };
            };
            /** @description The range that `Range` names. */
            206: {
                headers: {
                    /** @description Which bytes of how many these are. */
                    "Content-Range": string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "*/*": string;
                };
            };
            /** @description The file is the one that `If-None-Match` names. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            416: components["responses"]["RangeNotSatisfiable"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listEmailTemplates: {
        parameters: {
            query?: {
                /** @description The maximum number of e-mail templates. */
                limit?: number;
                /** @description How many e-mail templates to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of e-mail templates. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEmailTemplatesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createEmailTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEmailTemplateRequest"];
            };
        };
        responses: {
            /** @description The e-mail template that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailTemplate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the e-mail template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The e-mail template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailTemplate"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteEmailTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the e-mail template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The e-mail template was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteEmailTemplateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateEmailTemplate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the e-mail template. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateEmailTemplateRequest"];
            };
        };
        responses: {
            /** @description The changed e-mail template. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateEmailTemplateResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listKnowledgeSources: {
        parameters: {
            query?: {
                /** @description Beginnings of words, all of which the title, the name or the text must contain, without regard to case and accents; `ue` finds `ü`. Texts that the caller may not read are not searched. */
                q?: string;
                /** @description Only sources of this type. */
                type?: components["schemas"]["KnowledgeType"];
                /** @description Only sources with this status: active or archived. */
                status?: "active" | "archived";
                /** @description Only sources with this tag. */
                tag?: number;
                /** @description Only sources directly below this one. */
                parent?: number;
                /** @description Only sources that come from here. */
                source?: string;
                /** @description Only those that AI may read (false), or may not read (true). */
                excluded?: boolean;
                /** @description The maximum number of sources. */
                limit?: number;
                /** @description How many matching sources to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of knowledge sources. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListKnowledgeSourcesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createKnowledgeSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKnowledgeSourceRequest"];
            };
        };
        responses: {
            /** @description The knowledge source that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSource"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listArchivedKnowledgeSources: {
        parameters: {
            query?: {
                /** @description The maximum number of sources. */
                limit?: number;
                /** @description How many sources to skip. */
                offset?: number;
                /** @description The order by time of the last change. */
                orderByDirection?: components["schemas"]["OrderByDirection"];
                /** @description Only sources directly below this one. */
                parent?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of archived knowledge sources. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListArchivedKnowledgeSourcesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getKnowledgeSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the source. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge source. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSource"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateKnowledgeSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the source. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateKnowledgeSourceRequest"];
            };
        };
        responses: {
            /** @description The changed knowledge source. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateKnowledgeSourceResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    markKnowledgeSourceRead: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the source. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge source was marked as read. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MarkKnowledgeSourceReadResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listSkills: {
        parameters: {
            query?: {
                /** @description Part of the name or the slug, without regard to case. */
                q?: string;
                /** @description The skills that this AI agent has: its own and the shared ones. */
                aiAgentId?: number;
                /** @description The maximum number of skills. */
                limit?: number;
                /** @description How many matching skills to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of skills. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSkillsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSkillRequest"];
            };
        };
        responses: {
            /** @description The skill that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateSkillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the skill. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSkillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the skill. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateSkillRequest"];
            };
        };
        responses: {
            /** @description The changed skill. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSkillResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    exportReportingTickets: {
        parameters: {
            query?: {
                /** @description The format of the file. Default: the setting `defaultDateExportFormat`. */
                format?: components["schemas"]["ExportFormat"];
                /** @description The maximum number of rows. */
                limit?: number;
                /** @description How many matching rows to skip. */
                offset?: number;
                /** @description The column to order by; `id` if not given. */
                orderByField?: string;
                /** @description The direction of the order. */
                orderByDirection?: components["schemas"]["OrderByDirection"];
                /** @description Conditions that the exported rows must meet. The keys are the names of columns. As JSON, or by names in brackets, such as `filters[0][key]=id`. */
                filters?: components["schemas"]["Filter"][];
                /** @description Exports every matching row. Allowed only with `Prefer: respond-async`, and not together with `limit` or `offset`. */
                all?: boolean;
            };
            header?: {
                /** @description `respond-async` returns 202 at once, with the address of the status in `Location`. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "text/csv": string;
                    "application/json": components["schemas"]["ReportingTicketRow"][];
                };
            };
            /** @description The content is being prepared. */
            202: {
                headers: {
                    /** @description The address of the status. */
                    Location: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportingExport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getReportingExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the export. */
                exportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An export. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportingExport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getReportingExportFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the export. */
                exportId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": string;
                    "text/csv": string;
                    "application/json": components["schemas"]["ReportingTicketRow"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getSettingsOfCategory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The category. */
                category: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings of a category. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSettingsOfCategoryResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listSettings: {
        parameters: {
            query?: {
                /** @description The category; all categories if not given. */
                category?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSettingsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateSettings: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSettingsRequest"];
            };
        };
        responses: {
            /** @description The changed settings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSettingsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateSetting: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the setting. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSettingRequest"];
            };
        };
        responses: {
            /** @description The changed setting. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSettingResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listSubchannels: {
        parameters: {
            query?: {
                /** @description The channel; all channels if not given. */
                channel?: components["schemas"]["Channel"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subchannels. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSubchannelsResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createSubchannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubchannelRequest"];
            };
        };
        responses: {
            /** @description The subchannel that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subchannel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteSubchannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the subchannel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subchannel was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSubchannelResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateSubchannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the subchannel. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateSubchannelRequest"];
            };
        };
        responses: {
            /** @description The changed subchannel. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSubchannelResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description The maximum number of endpoints. */
                limit?: number;
                /** @description How many endpoints to skip. */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhook endpoints. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhooksResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            /** @description The webhook endpoint that was created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook endpoint was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteWebhookResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            /** @description The changed webhook endpoint. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateWebhookResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecretRequest"];
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateWebhookSecretResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TestWebhookRequest"];
            };
        };
        responses: {
            /** @description The delivery of the test message. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestWebhookResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Only deliveries in this state. */
                status?: components["schemas"]["WebhookDeliveryStatus"];
                /** @description The maximum number of deliveries. */
                limit?: number;
                /** @description The `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhookDeliveriesResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the endpoint. */
                id: number;
                /** @description The id of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RedeliverWebhookDeliveryRequest"];
            };
        };
        responses: {
            /** @description The delivery. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedeliverWebhookDeliveryResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    recoverWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 hours: the same key with the same request returns the first response again, with `Idempotency-Replayed: true`. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the endpoint. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoverWebhookRequest"];
            };
        };
        responses: {
            /** @description How many events will be delivered. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoverWebhookResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["ContentTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["KeyReused"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; the oldest events if not given. */
                after?: string;
                /** @description Only events of these types. */
                types?: components["schemas"]["TicketChangeType"][];
                /** @description Only events of this ticket. */
                ticketId?: number;
                /** @description The maximum number of events. Not with the media type `text/event-stream`. */
                limit?: number;
            };
            header?: {
                /** @description With `Accept: text/event-stream`: the id of the last event that was received. The stream continues there. */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEventsResponse"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            429: components["responses"]["TooManyRequests"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["DeadlineExceeded"];
        };
    };
}

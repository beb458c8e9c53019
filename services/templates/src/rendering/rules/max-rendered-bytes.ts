/** How long a rendered template may be, before and after it is sanitised. Units: UTF-8. */
export const maxRenderedBytes = 1024 * 1024;

import { readFileSync } from 'node:fs';
import { type PublicDocument, publicDocument } from '@ticketing/rest/routes/public-document.ts';

/** The path of the reference page. */
export const docsPath = '/docs';

/** Returns the files of the reference page, by their paths. The page loads nothing from other hosts. */
export function referencePage(title: string): ReadonlyMap<string, PublicDocument> {
  const html = publicDocument(pageHtml(title), 'text/html; charset=utf-8');
  return new Map([
    [docsPath, html],
    [`${docsPath}/`, html],
    [files.style, publicDocument(readFileSync(new URL(swaggerUiStyle)), 'text/css; charset=utf-8')],
    [files.script, publicDocument(readFileSync(new URL(swaggerUiScript)), scriptType)],
    [files.start, publicDocument(startScript, scriptType)],
    [files.icon, publicDocument(icon, 'image/svg+xml')],
  ]);
}

// The build puts these files beside the program.
const swaggerUiStyle = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui.css');
const swaggerUiScript = import.meta.resolve('@fastify/swagger-ui/static/swagger-ui-bundle.js');

const scriptType = 'text/javascript; charset=utf-8';
const files = {
  style: `${docsPath}/static/swagger-ui.css`,
  script: `${docsPath}/static/swagger-ui-bundle.js`,
  start: `${docsPath}/static/start.js`,
  icon: `${docsPath}/static/icon.svg`,
};

const pageHtml = (title: string) => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>${title}</title>
<link rel="stylesheet" href="${files.style}">
<link rel="icon" type="image/svg+xml" sizes="any" href="${files.icon}">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${files.script}"></script>
<script src="${files.start}"></script>
</body>
</html>
`;

// The base layout has no top bar with the logo of Swagger and a field for the URL of another document.
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  layout: 'BaseLayout',
  presets: [SwaggerUIBundle.presets.apis],
  validatorUrl: null,
  docExpansion: 'list',
  tryItOutEnabled: false,
});
`;

// The picture of a paper ticket, instead of the icon of Swagger.
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#1b6ac9" d="M1 3h9v2h1V3h4v3a2 2 0 0 0 0 4v3h-4v-2h-1v2H1v-3a2 2 0 0 0 0-4zm9 4h1v2h-1z"/></svg>';

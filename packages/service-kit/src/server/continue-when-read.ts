import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { FastifyInstance } from 'fastify';

/**
 * Sends `100 Continue` when the body of a request is first read, that is, after the request was admitted. Node would send
 * it before any handler runs, and the client would send a body that nobody wants.
 */
export function continueWhenRead(server: FastifyInstance['server']): void {
  // One handler for both protocols: HTTP/1.1 and HTTP/2 have the same event and the same methods.
  server.on('checkContinue', (request: IncomingMessage & Http2ServerRequest, response: Response) => {
    const isHttp1 = request.httpVersionMajor === 1;
    // A client that is refused does not send its body: the server would take its next request for that body.
    if (isHttp1) response.setHeader('connection', 'close');
    const read = request._read;
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) {
        response.removeHeader('connection');
        // Bytes that have arrived show that the client does not wait.
        if (request.readableLength === 0) response.writeContinue();
      }
      read.call(request, size);
    };
    server.emit('request', request, response);
  });
}

type Response = ServerResponse & Http2ServerResponse;

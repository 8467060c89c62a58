// A static host: files, their types, and nothing else.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { site } from './site.mjs';

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm', jsonl: 'application/jsonl' };

export class Static {
  static async start() {
    const host = new Static();
    const { folder } = site();
    host.server = createServer((request, response) => {
      const path = new URL(request.url, 'http://x').pathname.replace(/\/$/, '/index.html');
      try {
        const bytes = readFileSync(folder + path);
        response.writeHead(200, { 'content-type': TYPES[path.split('.').pop()] });
        response.end(bytes);
      } catch {
        response.writeHead(404).end();
      }
    });
    host.server.listen(0, '127.0.0.1');
    await once(host.server, 'listening');
    host.url = `http://127.0.0.1:${host.server.address().port}`;
    return host;
  }

  async end() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

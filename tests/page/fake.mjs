// A daemon that is elsewhere in time: its page is the real one's, its `/app` and its events are given by the test.

import { createServer } from 'node:http';
import { once } from 'node:events';

const BEAT_MS = 5000;

export class Fake {
  /** @param {string} real where the page itself comes from */
  static async start(real) {
    const fake = new Fake();
    fake.streams = new Set();
    fake.app = null;
    // What a beat says of the daemon itself.
    fake.health = {};
    fake.server = createServer(async (request, response) => {
      const path = new URL(request.url, 'http://x').pathname;
      if (path === '/app') {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(fake.app()));
      } else if (path === '/readyz') {
        const { ready, readiness } = fake.app();
        response.writeHead(ready ? 200 : 503, { 'content-type': 'text/plain' });
        response.end(ready ? 'ready\n' : `not ready: ${readiness.text}\n`);
      } else if (path === '/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        fake.streams.add(response);
        response.on('close', () => fake.streams.delete(response));
        fake.beat();
      } else {
        const answer = await fetch(real + request.url);
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type'), 'content-security-policy': answer.headers.get('content-security-policy') ?? '' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      }
    });
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    fake.url = `http://127.0.0.1:${fake.server.address().port}`;
    return fake;
  }

  send(event, data) {
    for (const stream of this.streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  beat() {
    const app = this.app();
    this.send('beat', { now_unix_ms: app.now_unix_ms, id: app.id, ready: app.ready, reason: app.readiness.reason, ...this.health });
  }

  /** From now on it speaks as often as a real one does. */
  keep_beating() {
    this.beating = setInterval(() => this.beat(), BEAT_MS);
  }

  async end() {
    clearInterval(this.beating);
    this.server.closeAllConnections();
    this.server.close();
  }
}

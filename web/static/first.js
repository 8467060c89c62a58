// The first verdict, with as little as it takes: the daemon's own words from one snapshot. Then the page proper.

import { daemon_origin, fetch_app } from './daemon.js';
import { h, mount } from './dom.js';

const origin = daemon_origin();
/** @type {import('../types/page').App|null} */
let app = null;
try {
  app = origin === null ? null : await fetch_app(origin);
} catch {
  // The page proper asks again, and says what is wrong.
}
if (app) {
  const { ready, text } = app.readiness;
  const draw = mount(/** @type {Element} */ (document.getElementById('page')), () => {});
  draw([
    h('header', { class: 'top' }, h('div', { class: 'brand' }, 'Greenlight')),
    h('section', { class: 'banner', 'data-verdict': ready ? 'ready' : 'not_ready' },
      h('div', { class: 'banner-mark' }), h('div', { class: 'banner-said' }, h('h1', null, ready ? 'Ready' : 'Not ready'), h('p', { class: 'because' }, ready ? '' : text))),
  ]);
  performance.mark('greenlight-first-verdict');
}
const { start } = await import('./main.js');
start(app);

// The first verdict, with as little as it takes: the daemon's own word, from whichever answer comes first. Then the page
// proper, which loads while the rows are still on their way.

import { daemon_origin, fetch_app, fetch_word } from './daemon.js';
import { h, mount } from './dom.js';

const origin = daemon_origin();
// Failures are null here: the page proper asks again, and says what is wrong.
const word_soon = origin === null ? null : fetch_word(origin).catch(() => null);
const app_soon = origin === null ? null : fetch_app(origin).catch(() => null);
let shown = false;

/** @param {{ready: boolean, text: string}|null|undefined} said */
function show(said) {
  if (!said || shown) return;
  shown = true;
  const { ready, text } = said;
  const draw = mount(/** @type {Element} */ (document.getElementById('page')), () => {});
  draw([
    h('header', { class: 'top' }, h('div', { class: 'brand' }, 'Greenlight')),
    h('section', { class: 'banner', 'data-verdict': ready ? 'ready' : 'not_ready' },
      h('div', { class: 'banner-mark' }), h('div', { class: 'banner-said' }, h('h1', null, ready ? 'Ready' : 'Not ready'), h('p', { class: 'because' }, ready ? '' : text))),
  ]);
  performance.mark('greenlight-first-verdict');
}

const of_rows = app_soon?.then((app) => app?.readiness) ?? null;
show(await Promise.race([word_soon, of_rows]));
show(await word_soon);
const page = import('./main.js');
const app = await app_soon;
show(app?.readiness);
(await page).start(app);

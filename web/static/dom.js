// The only writer of the DOM. Views are pure functions that return nodes; this file makes the document match them.
// Everything that came from a source goes through a text node or an attribute, never through markup.

/**
 * @typedef {{tag: string, key: string|null, props: Props, kids: Child[], lazy: Lazy|null, made: Node|null}} VNode
 * @typedef {{make: () => VNode, deps: unknown[]}} Lazy
 * @typedef {VNode|string} Child
 * @typedef {Record<string, unknown>} Props
 */

/**
 * A node to be. `null`, `false` and `''` among the children are left out.
 *
 * Props are attributes, but for `key` (identity among siblings), `on` (the action that a use of this element stands
 * for), and the live properties `value`, `checked`, `disabled`, `open`.
 * @param {string} tag
 * @param {Props|null} [props]
 * @param {...(Child|null|undefined|false|(Child|null|undefined|false)[])} kids
 * @returns {VNode}
 */
export function h(tag, props, ...kids) {
  const flat = /** @type {Child[]} */ (kids.flat().filter((kid) => kid !== null && kid !== undefined && kid !== false && kid !== ''));
  return { tag, key: /** @type {string|null} */ (props?.key ?? null), props: props ?? {}, kids: flat, lazy: null, made: null };
}

/**
 * A node that is made again only when one of `deps` changes: what keeps a second's tick cheap in a long table.
 * @param {string} key
 * @param {unknown[]} deps
 * @param {() => VNode} make
 * @returns {VNode}
 */
export function lazy(key, deps, make) {
  return { tag: '', key, props: {}, kids: [], lazy: { make, deps }, made: null };
}

/**
 * Makes the children of `root` match `kids`, and sends each use of an element to `dispatch`.
 * @param {Element} root
 * @param {(action: unknown[], event: Event) => void} dispatch
 * @returns {(kids: VNode[]) => void}
 */
export function mount(root, dispatch) {
  /** @type {Child[]} */
  let shown = [];
  for (const type of ['click', 'input', 'change', 'submit', 'toggle', 'pointermove', 'pointerleave', 'keydown']) {
    root.addEventListener(type, (event) => hand(event, dispatch), NOT_BUBBLING.has(type));
  }
  root.textContent = '';
  return (kids) => {
    patchKids(root, shown, kids);
    shown = kids;
  };
}

/** Adds a sheet that lies beside this file, once; done when it holds, or cannot be had. @param {string} name @returns {Promise<void>} */
export async function addSheet(name) {
  const href = new URL(`./${name}`, import.meta.url).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  const over = new Promise((resolve) => {
    link.onload = link.onerror = resolve;
  });
  document.head.append(link);
  await over;
}

/** @param {{title: string, icon: string, scheme: string}} head */
export function writeHead(head) {
  if (document.title !== head.title) document.title = head.title;
  const link = /** @type {HTMLLinkElement|null} */ (document.querySelector('link[rel=icon]'));
  if (link && link.getAttribute('href') !== head.icon) link.setAttribute('href', head.icon);
  const root = document.documentElement;
  if (root.dataset.verdict !== head.scheme) root.dataset.verdict = head.scheme;
}

/** Moves the focus to the element with this id, once what was rendered is there. @param {string} id */
export function focusOn(id) {
  const element = document.getElementById(id);
  if (!element) return;
  element.focus();
  if (element instanceof HTMLInputElement && element.type === 'search') element.select();
}

/** Opens or closes the dialog with this id. @param {string} id @param {boolean} open */
export function showDialog(id, open) {
  const dialog = document.getElementById(id);
  if (!(dialog instanceof HTMLDialogElement) || dialog.open === open) return;
  if (open) dialog.showModal();
  else dialog.close();
}

/** @type {WeakMap<Node, unknown>} */
const actions = new WeakMap();
const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'g', 'path', 'circle', 'rect', 'line', 'text']);
const NOT_BUBBLING = new Set(['toggle', 'pointerleave']);
/** Properties that the user moves too: an attribute would only be their first value. */
const LIVE = new Set(['value', 'checked', 'disabled', 'open', 'hidden']);

/** @param {Event} event @param {(action: unknown[], event: Event) => void} dispatch */
function hand(event, dispatch) {
  for (let at = /** @type {Node|null} */ (event.target); at && at !== event.currentTarget; at = at.parentNode) {
    const on = /** @type {Record<string, unknown[]>|undefined} */ (actions.get(at));
    const action = on?.[event.type];
    if (!action) continue;
    if (event.type === 'submit') event.preventDefault();
    dispatch(action, event);
    return;
  }
}

/** @param {Child} child @returns {Node} */
function create(child) {
  if (typeof child === 'string') return document.createTextNode(child);
  if (child.lazy) return (child.made = create(resolve(child)));
  const element = SVG_TAGS.has(child.tag) ? document.createElementNS(SVG, child.tag) : document.createElement(child.tag);
  for (const kid of child.kids) element.append(create(kid));
  setProps(element, {}, child.props);
  return (child.made = element);
}

/** @param {VNode} node @returns {VNode} */
function resolve(node) {
  if (node.kids.length === 0 && node.lazy) node.kids = [node.lazy.make()];
  return /** @type {VNode} */ (node.kids[0]);
}

/** @param {Node} at @param {Child} was @param {Child} is @returns {Node} */
function patch(at, was, is) {
  if (typeof was === 'string' || typeof is === 'string') {
    if (typeof was === 'string' && typeof is === 'string') {
      if (was !== is) at.nodeValue = is;
      return at;
    }
    return replace(at, is);
  }
  if (was === is) return at;
  if (was.lazy && is.lazy) {
    const old = was.lazy.deps;
    if (old.length === is.lazy.deps.length && is.lazy.deps.every((dep, i) => dep === old[i])) {
      is.kids = was.kids;
      return (is.made = at);
    }
    return (is.made = patch(at, resolve(was), resolve(is)));
  }
  if (was.lazy || is.lazy || was.tag !== is.tag || was.key !== is.key) return replace(at, is);
  patchKids(/** @type {Element} */ (at), was.kids, is.kids);
  setProps(/** @type {Element} */ (at), was.props, is.props);
  return (is.made = at);
}

/** @param {Node} at @param {Child} is */
function replace(at, is) {
  const made = create(is);
  at.parentNode?.replaceChild(made, at);
  return made;
}

/** @param {Element} parent @param {Child[]} was @param {Child[]} is */
function patchKids(parent, was, is) {
  const keyed = is.length > 0 && typeof is[0] !== 'string' && is[0].key !== null && was.length > 0 && typeof was[0] !== 'string';
  if (keyed) {
    patchKeyed(parent, /** @type {VNode[]} */ (was), /** @type {VNode[]} */ (is));
    return;
  }
  const nodes = [...parent.childNodes];
  is.forEach((child, i) => {
    if (i < was.length) patch(nodes[i], was[i], child);
    else parent.append(create(child));
  });
  for (let i = is.length; i < was.length; i++) nodes[i].remove();
}

/** @param {Element} parent @param {VNode[]} was @param {VNode[]} is */
function patchKeyed(parent, was, is) {
  const old = new Map(was.map((node) => [node.key, node]));
  const wanted = new Set(is.map((node) => node.key));
  for (const node of was) if (!wanted.has(node.key) && node.made) parent.removeChild(node.made);
  let next = parent.firstChild;
  for (const node of is) {
    const before = old.get(node.key);
    const at = before?.made ? patch(before.made, before, node) : create(node);
    if (before?.made && at !== before.made && next === before.made) next = /** @type {ChildNode} */ (at);
    if (at === next) next = next.nextSibling;
    else parent.insertBefore(at, next);
  }
}

/** @param {Element} element @param {Props} was @param {Props} is */
function setProps(element, was, is) {
  for (const name in was) if (!(name in is)) setProp(element, name, undefined);
  for (const name in is) {
    // The user may have moved it since; but what is being written now is theirs.
    if (was[name] !== is[name] || (LIVE.has(name) && element !== document.activeElement)) setProp(element, name, is[name]);
  }
}

/** @param {Element} element @param {string} name @param {unknown} value */
function setProp(element, name, value) {
  if (name === 'key') return;
  if (name === 'on') {
    actions.set(element, value);
  } else if (LIVE.has(name)) {
    const live = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (element));
    const to = value ?? (name === 'value' ? '' : false);
    if (live[name] !== to) live[name] = to;
  } else if (name === 'vars') {
    // Through the CSSOM: a style attribute would need 'unsafe-inline'.
    for (const [property, text] of Object.entries(/** @type {Record<string, string>} */ (value ?? {}))) {
      /** @type {HTMLElement} */ (element).style.setProperty(property, text);
    }
  } else if (value === undefined || value === null || value === false) {
    element.removeAttribute(name);
  } else {
    const text = value === true ? '' : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

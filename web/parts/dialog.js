import { html } from '../html.js';
import { useLayoutEffect, useRef } from '../vendor/hooks.js';

/**
 * A window above the page. The browser keeps the focus inside, and closes it with Escape, unless `onLeave` says that it
 * stays.
 *
 * @param {{ onLeave?: () => boolean }} properties `onLeave` is asked before a close by the user
 */
export function Dialog({ title, onClose, onLeave = () => true, children, wide = false }) {
  const element = useRef();
  // An ordinary effect would wait for the next frame, and keys that are pressed before would go to the page behind.
  useLayoutEffect(() => element.current.showModal(), []);
  return html`<dialog
    class=${wide ? 'dialog wide' : 'dialog'}
    ref=${element}
    aria-label=${title}
    onClose=${onClose}
    onCancel=${(event) => onLeave() || event.preventDefault()}
  >
    <header>
      <h2>${title}</h2>
      <button class="quiet" type="button" aria-label="Close" onClick=${() => onLeave() && element.current.close()}>✕</button>
    </header>
    ${children}
  </dialog>`;
}

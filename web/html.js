import htm from './vendor/htm.js';
import { h } from './vendor/preact.js';

/** Makes elements from a template: `<p>${text}</p>` with the name of this function before the backtick. */
export const html = htm.bind(h);

/** Makes a component that is rendered again only when one of its properties becomes another value. */
export function memo(component) {
  return function Memo(props) {
    this.shouldComponentUpdate = (next) =>
      Object.keys({ ...this.props, ...next }).some((name) => !Object.is(this.props[name], next[name]));
    return h(component, props);
  };
}

import { App } from './app.js';
import { html } from './html.js';
import { render } from './vendor/preact.js';

render(html`<${App} />`, document.getElementById('page'));

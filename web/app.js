import { Explorer } from './explorer.js';
import { useQuery } from './hooks/use-query.js';
import { useService } from './hooks/use-service.js';
import { html } from './html.js';
import { Databases } from './parts/databases.js';
import { Dialog } from './parts/dialog.js';
import { Header } from './parts/header.js';
import { Import } from './parts/import.js';
import { KeyForm, OfferedKey, OwnKey } from './parts/key.js';
import { NoDatabase, NotAllowed, ServiceDown } from './parts/states.js';
import { changeTo } from './query.js';
import { storedKey, takeKeyFromAddress } from './session.js';
import { useCallback, useEffect, useRef, useState } from './vendor/hooks.js';

export function App() {
  // Before anything reads the address or the key.
  const [offered, setOffered] = useState(takeKeyFromAddress);
  const service = useService();
  const { rights, databases } = service;
  const asked = useQuery(() => {
    setOffered(takeKeyFromAddress());
    service.useKey(storedKey());
  });
  const { query, change } = asked;
  const [dialog, setDialog] = useState();
  const [dropped, setDropped] = useState();
  const close = () => {
    setDialog(undefined);
    setDropped(undefined);
  };
  useFileDrop(rights?.write, (file) => {
    setDropped(file);
    setDialog('import');
  });

  // The list has a database that was deleted here until it is read again.
  const deleted = useRef();
  const firstDatabase = () => databases?.find(({ id }) => id !== deleted.current)?.id ?? '';
  useEffect(() => {
    if (query.database === '' && firstDatabase() !== '') change({ database: firstDatabase() });
  }, [query.database, databases]);
  useEffect(() => {
    document.title = query.database === '' ? 'cosift' : `${query.database} · cosift`;
  }, [query.database]);

  const choose = useCallback((database) => {
    change(changeTo(database));
    close();
  }, []);
  const leave = (id) => {
    deleted.current = id;
    if (id === query.database) change(changeTo(firstDatabase()));
    service.reload();
  };
  return html`<${Header}
      databases=${databases}
      database=${query.database}
      rights=${rights}
      onDatabase=${choose}
      onOpen=${setDialog}
    />
    <${Main} service=${service} asked=${asked} change=${change} onOpen=${setDialog} />
    ${
      dialog === 'databases' &&
      html`<${Databases} service=${service} onChoose=${choose} onDropped=${leave} onImport=${() => setDialog('import')} onClose=${close} />`
    }
    ${
      dialog === 'import' &&
      html`<${Import} service=${service} file=${dropped} onSearch=${choose} onClose=${close} />`
    }
    ${
      dialog === 'key' &&
      html`<${Dialog} title="Key" onClose=${close}>
      <${OwnKey}
        rights=${rights}
        onForget=${() => {
          close();
          service.useKey(undefined);
        }}
      />
    <//>`
    }
    ${
      offered !== undefined &&
      html`<${OfferedKey}
        rights=${rights}
        onUse=${() => {
          setOffered(undefined);
          close();
          service.useKey(offered);
        }}
        onKeep=${() => setOffered(undefined)}
      />`
    }`;
}

/** Takes a file that is dropped anywhere on the page. */
function useFileDrop(isEnabled, onFile) {
  const take = useRef(onFile);
  take.current = onFile;
  useEffect(() => {
    if (!isEnabled) return undefined;
    const allow = (event) => event.preventDefault();
    const drop = (event) => {
      const [file] = event.dataTransfer.files;
      if (file === undefined) return;
      event.preventDefault();
      take.current(file);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  }, [isEnabled]);
}

function Main({ service, asked, change, onOpen }) {
  const { query } = asked;
  const { key, rights, databases, failure } = service;
  if (key === undefined || failure?.status === 401) {
    return html`<main class="single"><${KeyForm} failure=${failure} onKey=${service.useKey} /></main>`;
  }
  if (rights === undefined) {
    return html`<main class="single">
      ${
        failure === undefined
          ? html`<p class="muted" role="status">Connecting…</p>`
          : html`<${ServiceDown} failure=${failure} onRetry=${service.reload} />`
      }
    </main>`;
  }
  if (databases.length === 0 && query.database === '') {
    return html`<main class="single"><${NoDatabase} rights=${rights} onOpen=${onOpen} onChoose=${(database) => change({ database })} /></main>`;
  }
  if (!rights.search) {
    return html`<main class="single"><${NotAllowed} rights=${rights} onOpen=${onOpen} /></main>`;
  }
  return html`<${Explorer} service=${service} asked=${asked} change=${change} />`;
}

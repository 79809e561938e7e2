// Pictures that are not uploaded yet, in the browser's database, so that they survive the page.

/** What is kept at most; more is not kept, and the page says so. */
const MAX_FILES = 20;
const MAX_BYTES = 100_000_000;
/** Milliseconds for which a picture is kept. */
const MAX_AGE = 30 * 24 * 3600 * 1000;
const STORE = "files";

/**
 * @typedef {object} Picture
 * @property {number} id
 * @property {string} post key of the post that it belongs to
 * @property {string} view the page that it was added in
 * @property {File} file
 * @property {number} time milliseconds since 1970
 */

export class Pictures {
  /** Ids by the upload that keeps them. */
  #kept = new Map();

  /**
   * @param {object} parts
   * @param {IDBFactory | undefined} parts.database
   * @param {LockManager | undefined} parts.locks tell which pages are still open
   * @param {string} parts.key of the post, with the user
   * @param {string} parts.view random name of this view of the page
   * @param {() => number} parts.now
   */
  constructor({ database, locks, key, view, now }) {
    Object.assign(this, { database, locks, key, view, now });
    this.locks?.request(`editor-view-${view}`, () => new Promise(() => {})).catch(() => {});
  }

  #open() {
    return new Promise((resolve, reject) => {
      const request = this.database.open("editor-pictures", 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "id", autoIncrement: true });
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  /** Runs a transaction; its value is the result of the request that the function returns. */
  async #run(mode, use) {
    const db = await this.#open();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = db.transaction(STORE, mode);
        const request = use(transaction.objectStore(STORE));
        transaction.oncomplete = () => resolve(request?.result);
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      db.close();
    }
  }

  /** Keeps the picture of an upload. Returns false if the browser cannot, or has enough of them. */
  async keep(upload, file) {
    try {
      const all = await this.#run("readonly", (store) => store.getAll());
      const bytes = all.reduce((sum, picture) => sum + picture.file.size, file.size);
      if (all.length >= MAX_FILES || bytes > MAX_BYTES) return false;
      const id = await this.#run("readwrite", (store) => store.add({ post: this.key, view: this.view, file, time: this.now() }));
      this.#kept.set(upload, id);
      return true;
    } catch {
      return false;
    }
  }

  /** Forgets the picture of an upload. */
  async done(upload) {
    const id = this.#kept.get(upload);
    if (id === undefined) return;
    this.#kept.delete(upload);
    await this.discard([{ id }]);
  }

  /** Removes pictures. */
  async discard(pictures) {
    await this.#run("readwrite", (store) => void pictures.forEach(({ id }) => store.delete(id))).catch(() => {});
  }

  /**
   * Pictures of the post that pages which are closed now have left, oldest first. Old ones are removed.
   *
   * @returns {Promise<Picture[]>}
   */
  async left() {
    try {
      const all = await this.#run("readonly", (store) => store.getAll());
      const open = new Set((await this.locks?.query())?.held.map(({ name }) => name) ?? []);
      const old = all.filter(({ time }) => this.now() - time > MAX_AGE);
      if (old.length > 0) await this.discard(old);
      return all.filter((picture) => !old.includes(picture) && picture.post === this.key && picture.view !== this.view && !open.has(`editor-view-${picture.view}`));
    } catch {
      return [];
    }
  }

  /** Uses another key from now on: a new post has its id after the first save. */
  async rename(key) {
    if (key === this.key) return;
    this.key = key;
    await this.#run("readwrite", (store) => {
      store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
        if (!cursor) return;
        if (cursor.value.view === this.view) cursor.update({ ...cursor.value, post: key });
        cursor.continue();
      };
    }).catch(() => {});
  }
}
